import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.CuratorWatcher;
import org.apache.curator.framework.recipes.cache.PathChildrenCache;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.StandardLockInternalsDriver;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.recipes.leader.LeaderElectionSupport;
import org.apache.zookeeper.recipes.lock.LockListener;

/**
 * Curator clients, each with a session and a thread of its own, moved by lines on stdin: NAME VERB RECIPE PATH [LEASES].
 * They know ZooKeeper's own recipes, too, and herds. `begin` makes a client with one thread, `begin-pool` one with many.
 * Each line is answered by one of JSON: which ephemeral znodes the client has, and what it watches by its own books.
 */
public class CuratorClients {
    static final Map<String, Person> PEOPLE = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(obeyed(arguments[0], line.split(" ")));
        }
        System.exit(0);
    }

    static String obeyed(String hosts, String[] words) {
        try {
            switch (words[1]) {
                case "begin":
                case "begin-pool":
                    ExecutorService threads =
                        words[1].equals("begin") ? Executors.newSingleThreadExecutor() : Executors.newCachedThreadPool();
                    PEOPLE.put(words[0], new Person(hosts, words[0], Integer.parseInt(words[2]), threads));
                    return "{\"session\": " + PEOPLE.get(words[0]).zookeeper().getSessionId() + "}";
                case "end":
                    PEOPLE.remove(words[0]).client.close();
                    return "{}";
                default:
                    return PEOPLE.get(words[0]).obey(words);
            }
        } catch (Exception problem) {
            return "{\"failed\": \"" + problem + "\"}";
        }
    }

    /** Something of Curator's that can be had by one at a time, or by a few. */
    interface Thing {
        void take() throws Exception;

        default void leave() throws Exception {
        }
    }

    static class Person {
        final String name;
        final CuratorFramework client;
        final ExecutorService thread;
        final Map<String, Thing> things = new HashMap<>();
        final Map<String, InterProcessReadWriteLock> readWriteLocks = new HashMap<>();
        final Map<String, Future<?>> tries = new HashMap<>();

        Person(String hosts, String name, int timeoutMs, ExecutorService thread) throws Exception {
            this.name = name;
            this.thread = thread;
            client = CuratorFrameworkFactory.builder().connectString(hosts).sessionTimeoutMs(timeoutMs)
                .connectionTimeoutMs(timeoutMs).retryPolicy(new RetryOneTime(100)).defaultData(bytes()).build();
            client.start();
            client.blockUntilConnected();
        }

        byte[] bytes() {
            return name.replaceAll("#.*", "").getBytes(StandardCharsets.UTF_8);
        }

        ZooKeeper zookeeper() throws Exception {
            return client.getZookeeperClient().getZooKeeper();
        }

        String obey(String[] words) throws Exception {
            String recipe = words[2], path = words[3], key = recipe + path;
            Thing thing = things.get(key);
            if (thing == null) {
                thing = thing(recipe, path, words.length > 4 ? Integer.parseInt(words[4]) : 1);
                things.put(key, thing);
            }
            switch (words[1]) {
                case "acquire":
                    run(key, thing).get();
                    break;
                case "fail":
                    try {
                        run(key, thing).get();
                        throw new AssertionError("it did not fail");
                    } catch (ExecutionException expected) {
                        tries.remove(key);
                    }
                    break;
                case "ask":
                    List<String> before = watched(path);
                    Future<?> attempt = run(key, thing);
                    while (!attempt.isDone() && watched(path).equals(before)) {
                        Thread.sleep(2);
                    }
                    break;
                case "release":
                    Thing held = thing;
                    thread.submit((Callable<Void>) () -> { held.leave(); return null; }).get();
                    tries.remove(key);
                    break;
                case "cancel":
                    tries.remove(key).cancel(true);
                    thread.submit(() -> { }).get();
                    break;
                default:
                    break;
            }
            return now(key, path);
        }

        Future<?> run(String key, Thing thing) {
            Future<?> attempt = thread.submit((Callable<Void>) () -> { thing.take(); return null; });
            tries.put(key, attempt);
            return attempt;
        }

        String now(String key, String path) throws Exception {
            Future<?> attempt = tries.get(key);
            boolean holds = attempt != null && attempt.isDone();
            if (holds) {
                attempt.get();
            }
            return "{\"holds\": " + holds + ", \"nodes\": " + json(zookeeper().getEphemerals(path))
                + ", \"watches\": " + json(watched("Data", path)) + ", \"listens\": " + json(watched("Child", path)) + "}";
        }

        List<String> watched(String path) throws Exception {
            List<String> all = watched("Data", path);
            all.addAll(watched("Child", path));
            return all;
        }

        /** What the ZooKeeper client itself would set again after a reconnection. */
        List<String> watched(String kind, String prefix) throws Exception {
            Method books = ZooKeeper.class.getDeclaredMethod("get" + kind + "Watches");
            books.setAccessible(true);
            List<String> below = new ArrayList<>();
            for (Object path : (List<?>) books.invoke(zookeeper())) {
                if ((path + "/").startsWith(prefix + "/")) {
                    below.add(path.toString());
                }
            }
            return below;
        }

        Thing thing(String recipe, String path, int leases) throws Exception {
            switch (recipe) {
                case "InterProcessMutex":
                    return lock(new InterProcessMutex(client, path));
                case "TolerantMutex":
                    return lock(new InterProcessMutex(client, path, new ByNumber()));
                case "RevocableMutex":
                    return revocable(new InterProcessMutex(client, path));
                case "ReadLock":
                    return lock(readWriteLock(path).readLock());
                case "WriteLock":
                    return lock(readWriteLock(path).writeLock());
                case "InterProcessSemaphoreV2":
                    return semaphore(new InterProcessSemaphoreV2(client, path, leases));
                case "LeaderLatch":
                    return latch(new LeaderLatch(client, path, name));
                case "LeaderSelector":
                    return new Selector(path);
                case "ImpatientMutex":
                    return impatient(new InterProcessMutex(client, path));
                case "ZooKeeperLock":
                    return new ZooKeeperLock(zookeeper(), path);
                case "ElectionSupport":
                    return new Support(zookeeper(), path, name);
                case "Herd":
                    return new Herd(client, path);
                case "Ttl":
                    return () -> client.create().withTtl(leases).withMode(CreateMode.PERSISTENT_WITH_TTL).forPath(path);
                case "TreeCache":
                    return () -> TreeCache.newBuilder(client, path).build().start();
                case "PathChildrenCache":
                    return () -> new PathChildrenCache(client, path, true).start(PathChildrenCache.StartMode.BUILD_INITIAL_CACHE);
                default:
                    throw new IllegalArgumentException(recipe);
            }
        }

        InterProcessReadWriteLock readWriteLock(String path) {
            return readWriteLocks.computeIfAbsent(path, one -> new InterProcessReadWriteLock(client, one, bytes()));
        }

        Thing lock(InterProcessLock lock) {
            return new Thing() {
                public void take() throws Exception {
                    lock.acquire();
                }

                public void leave() throws Exception {
                    lock.release();
                }
            };
        }

        /** Releases it when it is asked to, on the thread that owns it. */
        Thing revocable(InterProcessMutex mutex) {
            mutex.makeRevocable(held -> {
                try {
                    held.release();
                } catch (Exception problem) {
                    throw new IllegalStateException(problem);
                }
            }, thread);
            return lock(mutex);
        }

        Thing impatient(InterProcessLock lock) {
            return () -> {
                if (!lock.acquire(300, TimeUnit.MILLISECONDS)) {
                    throw new TimeoutException();
                }
            };
        }

        Thing semaphore(InterProcessSemaphoreV2 semaphore) {
            semaphore.setNodeData(bytes());
            return new Thing() {
                Lease lease;

                public void take() throws Exception {
                    lease = semaphore.acquire();
                }

                public void leave() throws Exception {
                    lease.close();
                }
            };
        }

        Thing latch(LeaderLatch latch) {
            return new Thing() {
                public void take() throws Exception {
                    latch.start();
                    latch.await();
                }

                public void leave() throws Exception {
                    latch.close();
                }
            };
        }

        class Selector extends LeaderSelectorListenerAdapter implements Thing {
            final LeaderSelector selector;
            final CountDownLatch leads = new CountDownLatch(1), ends = new CountDownLatch(1);

            Selector(String path) {
                selector = new LeaderSelector(client, path, this);
                selector.setId(name);
            }

            public void take() throws Exception {
                selector.start();
                leads.await();
            }

            public void leave() throws Exception {
                ends.countDown();
                selector.close();
            }

            public void takeLeadership(CuratorFramework same) throws Exception {
                leads.countDown();
                ends.await();
            }
        }
    }

    /** ZooKeeper's own recipe. */
    static class ZooKeeperLock implements Thing, LockListener {
        final org.apache.zookeeper.recipes.lock.WriteLock lock;
        final CountDownLatch owns = new CountDownLatch(1);

        ZooKeeperLock(ZooKeeper zookeeper, String path) {
            lock = new org.apache.zookeeper.recipes.lock.WriteLock(zookeeper, path, ZooDefs.Ids.OPEN_ACL_UNSAFE, this);
        }

        public void take() throws Exception {
            lock.lock();
            owns.await();
        }

        public void leave() {
            lock.unlock();
        }

        public void lockAcquired() {
            owns.countDown();
        }

        public void lockReleased() {
        }
    }

    /** ZooKeeper's own election: its root has to exist; when it fails it leaves its node behind. */
    static class Support implements Thing {
        final LeaderElectionSupport support = new LeaderElectionSupport();
        final CountDownLatch over = new CountDownLatch(1);
        volatile boolean hasFailed;

        Support(ZooKeeper zookeeper, String path, String name) {
            support.setZooKeeper(zookeeper);
            support.setRootNodeName(path);
            support.setHostName(name);
            support.addListener(event -> {
                hasFailed = event == LeaderElectionSupport.EventType.FAILED;
                if (hasFailed || event == LeaderElectionSupport.EventType.ELECTED_COMPLETE) {
                    over.countDown();
                }
            });
        }

        public void take() throws Exception {
            support.start();
            over.await();
            if (hasFailed) {
                throw new IllegalStateException("the election failed");
            }
        }

        public void leave() {
            support.stop();
        }
    }

    /** As many write it by hand on top of Curator: everybody watches the children of the lock. */
    static class Herd implements Thing {
        final CuratorFramework client;
        final String path;

        Herd(CuratorFramework client, String path) {
            this.client = client;
            this.path = path;
        }

        public void take() throws Exception {
            String own = client.create().creatingParentsIfNeeded().withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
                .forPath(path + "/lock-").substring(path.length() + 1);
            while (true) {
                CountDownLatch changed = new CountDownLatch(1);
                List<String> queue = client.getChildren().usingWatcher((CuratorWatcher) event -> changed.countDown()).forPath(path);
                if (queue.stream().sorted().findFirst().get().equals(own)) {
                    return;
                }
                changed.await();
            }
        }
    }

    /** Sorts by the number at the end, whatever stands before it: sees the nodes of other libraries rightly. */
    static class ByNumber extends StandardLockInternalsDriver {
        @Override
        public String fixForSorting(String name, String lockName) {
            return name.substring(name.length() - 10);
        }
    }

    static String json(List<String> paths) {
        return paths.isEmpty() ? "[]" : "[\"" + String.join("\", \"", paths) + "\"]";
    }
}
