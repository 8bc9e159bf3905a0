"""zktop: see every ZooKeeper lock, live."""
