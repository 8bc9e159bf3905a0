import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.watch.PersistentWatcher;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;

/** Curator's own recipes against one server: prints one line a recipe. */
public class CuratorScript {
    public static void main(String[] arguments) throws Exception {
        try (CuratorFramework a = connect(arguments[0]); CuratorFramework b = connect(arguments[0])) {
            mutex(a, b);
            readWrite(a, b);
            semaphore(a, b);
            latch(a, b);
            transaction(a);
            modes(a);
            persistentWatcher(a, b);
            cache(a, b);
            reconnect(a);
        }
    }

    static CuratorFramework connect(String address) {
        CuratorFramework client = CuratorFrameworkFactory.newClient(address, 10_000, 5_000, new RetryOneTime(100));
        client.start();
        return client;
    }

    static void say(String recipe, Object... facts) {
        StringBuilder line = new StringBuilder(recipe);
        for (Object fact : facts) {
            line.append(' ').append(fact);
        }
        System.out.println(line);
    }

    static boolean soon(InterProcessMutex lock) throws Exception {
        return lock.acquire(200, TimeUnit.MILLISECONDS);
    }

    static void mutex(CuratorFramework a, CuratorFramework b) throws Exception {
        InterProcessMutex first = new InterProcessMutex(a, "/mutex");
        InterProcessMutex second = new InterProcessMutex(b, "/mutex");
        first.acquire();
        boolean early = soon(second);
        int waiting = first.getParticipantNodes().size();
        first.release();
        boolean late = soon(second);
        second.release();
        say("mutex", early, waiting, late);
    }

    static void readWrite(CuratorFramework a, CuratorFramework b) throws Exception {
        InterProcessReadWriteLock first = new InterProcessReadWriteLock(a, "/rw");
        InterProcessReadWriteLock second = new InterProcessReadWriteLock(b, "/rw");
        boolean reads = soon(first.readLock());
        boolean readsToo = soon(second.readLock());
        second.readLock().release();
        boolean early = soon(second.writeLock());
        first.readLock().release();
        boolean late = soon(second.writeLock());
        second.writeLock().release();
        say("read-write", reads, readsToo, early, late);
    }

    static void semaphore(CuratorFramework a, CuratorFramework b) throws Exception {
        InterProcessSemaphoreV2 first = new InterProcessSemaphoreV2(a, "/semaphore", 2);
        InterProcessSemaphoreV2 second = new InterProcessSemaphoreV2(b, "/semaphore", 2);
        Lease one = first.acquire();
        Lease two = second.acquire();
        Lease three = second.acquire(200, TimeUnit.MILLISECONDS);
        first.returnLease(one);
        Lease four = second.acquire(2, TimeUnit.SECONDS);
        say("semaphore", two != null, three != null, four != null);
        second.returnLease(two);
        second.returnLease(four);
    }

    static void latch(CuratorFramework a, CuratorFramework b) throws Exception {
        LeaderLatch first = new LeaderLatch(a, "/latch");
        first.start();
        first.await(5, TimeUnit.SECONDS);
        LeaderLatch second = new LeaderLatch(b, "/latch");
        second.start();
        boolean early = second.await(200, TimeUnit.MILLISECONDS);
        first.close();
        boolean late = second.await(5, TimeUnit.SECONDS);
        second.close();
        say("latch", early, late);
    }

    static void transaction(CuratorFramework a) throws Exception {
        a.transaction().forOperations(
            a.transactionOp().create().forPath("/both"), a.transactionOp().create().forPath("/both/two"));
        String refused = "done";
        try {
            a.transaction().forOperations(
                a.transactionOp().create().forPath("/half"), a.transactionOp().check().forPath("/nothing"));
        } catch (Exception problem) {
            refused = problem.getClass().getSimpleName();
        }
        say("transaction", a.getChildren().forPath("/both"), refused, a.checkExists().forPath("/half") != null);
    }

    static void modes(CuratorFramework a) throws Exception {
        a.create().creatingParentContainersIfNeeded().forPath("/box/one");
        String ttl = a.create().withTtl(60_000).withMode(CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL).forPath("/t-");
        String kept = a.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/p-");
        a.delete().deletingChildrenIfNeeded().forPath("/box");
        say("modes", ttl.length(), kept.replaceAll("[0-9a-f]{8}-.*-p", "GUID-p").length(), a.checkExists().forPath("/box") != null);
    }

    static void persistentWatcher(CuratorFramework a, CuratorFramework b) throws Exception {
        a.create().forPath("/tree");
        List<String> heard = new ArrayList<>();
        CountDownLatch four = new CountDownLatch(4);
        PersistentWatcher watcher = new PersistentWatcher(a, "/tree", true);
        watcher.getListenable().addListener(event -> {
            heard.add(event.getType() + "=" + event.getPath());
            four.countDown();
        });
        CountDownLatch set = new CountDownLatch(1);
        watcher.getResetListenable().addListener(set::countDown);
        watcher.start();
        set.await(5, TimeUnit.SECONDS);
        b.create().forPath("/tree/leaf");
        b.setData().forPath("/tree/leaf", new byte[0]);
        b.delete().forPath("/tree/leaf");
        b.setData().forPath("/tree", new byte[0]);
        four.await(5, TimeUnit.SECONDS);
        say("persistent", heard);
        watcher.close();
    }

    static void cache(CuratorFramework a, CuratorFramework b) throws Exception {
        CountDownLatch ready = new CountDownLatch(1);
        CountDownLatch changed = new CountDownLatch(1);
        CuratorCache cache = CuratorCache.build(a, "/tree");
        cache.listenable().addListener(CuratorCacheListener.builder()
            .forInitialized(ready::countDown).forCreates(node -> changed.countDown()).build());
        cache.start();
        boolean filled = ready.await(5, TimeUnit.SECONDS);
        b.create().forPath("/tree/branch");
        say("cache", filled, changed.await(5, TimeUnit.SECONDS));
        cache.close();
    }

    static void reconnect(CuratorFramework a) throws Exception {
        a.create().withMode(CreateMode.EPHEMERAL).forPath("/mine");
        CountDownLatch fired = new CountDownLatch(1);
        a.checkExists().usingWatcher((org.apache.zookeeper.Watcher) event -> {
            if (event.getType() == org.apache.zookeeper.Watcher.Event.EventType.NodeCreated) {
                fired.countDown();
            }
        }).forPath("/later");
        long session = a.getZookeeperClient().getZooKeeper().getSessionId();
        System.out.println("session " + session);
        System.in.read();
        a.create().forPath("/later");
        boolean same = session == a.getZookeeperClient().getZooKeeper().getSessionId();
        say("reconnect", same, a.checkExists().forPath("/mine") != null, fired.await(5, TimeUnit.SECONDS));
    }
}
