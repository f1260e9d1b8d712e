// Times Redisson's RLock: one caller, and the hand-over from one client to another.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public class Peer {
  static RedissonClient open(String port) {
    Config config = new Config();
    config.useSingleServer().setAddress("redis://127.0.0.1:" + port).setConnectionMinimumIdleSize(2);
    return Redisson.create(config);
  }

  static long at(List<Long> samples, double share) {
    Collections.sort(samples);
    return samples.get((int) (samples.size() * share));
  }

  public static void main(String[] args) throws Exception {
    RedissonClient giver = open(args[0]);
    RedissonClient receiver = open(args[0]);
    long nanos = (long) (Double.parseDouble(args[1]) * 1e9);
    List<Long> samples = new ArrayList<>();
    RLock one = giver.getLock("java:one");
    // The second half counts: the first one warms the compiler up.
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < 2 * nanos) {
      long begun = System.nanoTime();
      one.lock();
      one.unlock();
      if (begun - begin > nanos) samples.add(System.nanoTime() - begun);
    }
    List<Long> handOvers = new ArrayList<>();
    RLock mine = giver.getLock("java:turn");
    RLock theirs = receiver.getLock("java:turn");
    for (int i = 0; i < 200; i++) {
      mine.lock();
      CompletableFuture<Long> had =
          CompletableFuture.supplyAsync(
              () -> {
                theirs.lock();
                long hadAt = System.nanoTime();
                theirs.unlock();
                return hadAt;
              });
      Thread.sleep(5);
      long gaveAt = System.nanoTime();
      mine.unlock();
      handOvers.add(had.get() - gaveAt);
    }
    System.out.printf(
        "{\"name\": \"Redisson 3.27.2\", \"p50_ns\": %d, \"p99_ns\": %d, \"hand_over_p50_ns\": %d}%n",
        at(samples, 0.5), at(samples, 0.99), at(handOvers, 0.5));
    giver.shutdown();
    receiver.shutdown();
  }
}
