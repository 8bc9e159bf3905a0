"""Demo contenders: processes that run lock recipes, the pool that manages them, and scenes."""
