// Takes and releases Curator's locks, as told on standard input, one command a line.
// usage: java CuratorLock.java SERVERS SESSION_TIMEOUT_MS

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;

public class CuratorLock {
  /** One lock, waited for and held by a thread: Curator's locks belong to one. */
  private static final class Attempt {
    final CountDownLatch held = new CountDownLatch(1);
    final CountDownLatch letGo = new CountDownLatch(1);
    final Thread thread;

    Attempt(InterProcessLock lock) {
      thread = new Thread(() -> {
        try {
          lock.acquire();
          held.countDown();
          letGo.await();
          lock.release();
        } catch (Exception ended) {
          System.err.println(ended);
        }
      });
      thread.setDaemon(true);
      thread.start();
    }
  }

  private static final Map<String, Attempt> attempts = new HashMap<>();

  private static InterProcessLock make(CuratorFramework client, String[] words) {
    final String recipe = words.length > 2 ? words[2] : "lock";
    if (recipe.equals("read")) return new InterProcessReadWriteLock(client, words[1]).readLock();
    if (recipe.equals("write")) return new InterProcessReadWriteLock(client, words[1]).writeLock();
    return new InterProcessMutex(client, words[1]);
  }

  private static String answer(CuratorFramework client, String[] words) throws Exception {
    switch (words[0]) {
      case "begin":
        attempts.put(words[1], new Attempt(make(client, words)));
        return "begun";
      case "held": {
        final long patience = Long.parseLong(words[2]);
        final Attempt attempt = attempts.get(words[1]);
        return attempt.held.await(patience, TimeUnit.MILLISECONDS) ? "held" : "waiting";
      }
      case "try": {
        final InterProcessLock lock = make(client, words);
        if (!lock.acquire(0, TimeUnit.MILLISECONDS)) return "busy";
        lock.release();
        return "held";
      }
      default: {
        final Attempt attempt = attempts.remove(words[1]);
        attempt.letGo.countDown();
        attempt.thread.join();
        return "released";
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    final int timeout = Integer.parseInt(arguments[1]);
    final CuratorFramework client = CuratorFrameworkFactory.newClient(
        arguments[0], timeout, 60000, new ExponentialBackoffRetry(100, 5));
    client.start();
    client.blockUntilConnected();
    System.out.println("ready");
    final BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      System.out.println(answer(client, line.split(" ")));
    }
  }
}
