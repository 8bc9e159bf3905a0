"""What several commands share: options, sources, printing, interrupts."""
