"""Makes `python -m zktop` the same as `zktop`."""

from zktop.cli.main import main

if __name__ == "__main__":
    main()
