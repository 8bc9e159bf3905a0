"""Drawing code that several screens share: numbers, times, graphs, arrows, empty states."""
