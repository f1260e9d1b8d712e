// Times Curator's InterProcessMutex: one caller, and the hand-over from one client to another.

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

public class Peer {
  static CuratorFramework connect(int port) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.newClient("127.0.0.1:" + port, new RetryOneTime(1000));
    client.start();
    client.blockUntilConnected();
    return client;
  }

  static List<Long> timeOneCaller(int port, double seconds) throws Exception {
    CuratorFramework client = connect(port);
    InterProcessMutex mutex = new InterProcessMutex(client, "/curator/one");
    List<Long> samples = new ArrayList<>();
    long end = System.nanoTime() + (long) (seconds * 1e9);
    while (System.nanoTime() < end) {
      long begun = System.nanoTime();
      mutex.acquire();
      mutex.release();
      samples.add(System.nanoTime() - begun);
    }
    client.close();
    // The first half is for the compiler.
    samples = new ArrayList<>(samples.subList(samples.size() / 2, samples.size()));
    Collections.sort(samples);
    return samples;
  }

  static long timeHandOver(int port) throws Exception {
    CuratorFramework giver = connect(port);
    CuratorFramework receiver = connect(port);
    InterProcessMutex gives = new InterProcessMutex(giver, "/curator/turn");
    InterProcessMutex receives = new InterProcessMutex(receiver, "/curator/turn");
    List<Long> samples = new ArrayList<>();
    for (int i = 0; i < 200; ++i) {
      gives.acquire();
      AtomicLong hadAt = new AtomicLong();
      CountDownLatch had = new CountDownLatch(1);
      Thread thread = new Thread(() -> {
        try {
          receives.acquire();
          hadAt.set(System.nanoTime());
          receives.release();
        } catch (Exception e) {
          throw new RuntimeException(e);
        }
        had.countDown();
      });
      thread.start();
      while (gives.getParticipantNodes().size() < 2) Thread.sleep(1);
      Thread.sleep(3);
      long gaveAt = System.nanoTime();
      gives.release();
      had.await();
      thread.join();
      samples.add(hadAt.get() - gaveAt);
    }
    Collections.sort(samples);
    giver.close();
    receiver.close();
    return samples.get(samples.size() / 2);
  }

  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    List<Long> one = timeOneCaller(port, Double.parseDouble(arguments[1]));
    String version = CuratorFramework.class.getPackage().getImplementationVersion();
    System.out.printf("{\"name\": \"Curator %s\", \"p50_ns\": %d, \"p99_ns\": %d,"
            + " \"hand_over_p50_ns\": %d}%n",
        version == null ? "from Debian" : version, one.get(one.size() / 2),
        one.get(one.size() * 99 / 100), timeHandOver(port));
  }
}
