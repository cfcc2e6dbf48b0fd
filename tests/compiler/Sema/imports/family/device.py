from family import __version__

IS_NEW = __version__ == "1.2"
