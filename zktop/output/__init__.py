"""Output without a screen: a report as JSON, text, DOT or Mermaid."""
