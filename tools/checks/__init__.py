"""The rules that a machine checks. Each module has check(tree), which yields Problems: file, line, what is wrong, what to do.

format          clang-format 14 leaves every C++ source as it is
layers          modules include only what tools/layers.txt allows
public_headers  what sextant.h and libsextant_serving's headers include is exported and installed, and nothing else
readmes         READMEs name every header; links in .md files lead somewhere; sources that documents and comments name are there
sizes           files of at most 400 lines, functions of at most 80
words           no path of one machine, no file that users do not have
tidy            clang-tidy, only when asked for, on files that differ from main or on all
"""
