# An input of the rule's test; the compiler there is a stand-in that does not read it.
