"""Screen 4: sessions and servers."""
