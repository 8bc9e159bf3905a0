"""Demo contenders: processes that play lock recipes, the pool that runs them, and scenes."""
