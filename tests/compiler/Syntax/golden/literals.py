0
0_0
1_000_000
0xFF
0Xdead_BEEF
0o17
0b1010
123456789012345678901234567890123456789
0xffffffffffffffffffffffff
1.0
1.
.5
1e3
1_0.5e-1_0
1e400
3j
1.5J
None
True
False
...
'single' "double"
'a' 'b' "c"
'''triple
line'''
"\n\t\\\'\"\a\b\f\r\v\0\101\x41\u00e9\U0001F600\N{GREEK SMALL LETTER ALPHA}\d"
'joined \
line'
r"\n\'"
R'\d'
u"text"
b"bytes\x00\xff\n"
rb"\n" Br'\d'
"é数"
