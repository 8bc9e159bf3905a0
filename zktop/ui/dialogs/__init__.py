"""Dialogs: small screens above the page, which goes on living below them."""
