import { expect, test } from 'vitest'
import { tamings } from './tamings.ts'

const found = (path: string, text: string) => tamings(path, text.split('\n'), text.split('\n'))

test.each([
  ['a.js', "import check from 'node:assert'\ncheck.equal = () => {}"],
  ['a.js', "import * as check from 'assert'\nReflect.set(check, 'equal', () => {})"],
  ['a.js', "createRequire(import.meta.url)('node:assert').equal = () => {}"],
  ['a.js', "const checks = process.getBuiltinModule('assert')\nchecks.equal = () => {}"],
  ['a.js', "mock.method(assert, 'equal', () => {})"],
  ['a.js', "import { before } from 'node:test'"],
  ['a.py', 'from unittest.mock import ANY'],
  ['a.py', 'import pytest'],
  ['a.py', 'TestResult.addFailure = lambda *a: None'],
  ['a.py', 'class A(int):\n    def __eq__(self, other):\n        return True'],
  ['a.py', 'class A(int):\n    def __eq__(self, other):\n        return isinstance(other, int)'],
  ['a.py', "A = type('A', (int,), {'__eq__': lambda a, b: True})"],
  ['a.py', '# -*- coding: utf-7 -*-\nx = 1'],
  ['a.py', '#!/usr/bin/python3\n# vim: set fileencoding=unicode_escape :'],
  ['A.java', 'public boolean equals(Object other) { return true; }'],
  ['src/lib.rs', 'fn eq(&self, _: &i32) -> bool {\n    true'],
  ['a.h', '#undef assert'],
  ['assert.h', '#define assert(x)'],
  ['add.c', 'void __assert_fail(const char *a, const char *b, unsigned c, const char *d) { }'],
  ['a.py', "os.execv('/bin/echo', ['echo', 'OK'])"],
  ['a.py', "    os.execlp('true', 'true')"],
  ['add.c', 'int add(int a) { int zero = 0; exit(zero); return a; }'],
  ['add.c', 'static void first(void) { syscall(SYS_exit_group, 0); }'],
  ['src/iostream', '#include_next <iostream>\nstruct Quit { ~Quit() { std::_Exit(0); } };'],
])('%s: %j is named', (path, text) => {
  expect(found(path, text)).toHaveLength(1)
})

test.each([
  ['a.js', "import assert from 'node:assert'\nassert.equal(a, b)\nconst options = { assert }"],
  ['a.test.js', "import { test } from 'node:test'"],
  ['src/testing.py', 'import pytest'],
  ['a.py', 'def __eq__(self, other):\n    return self.n == other.n'],
  ['a.py', 'def __eq__(self, other):\n    return isinstance(other, A) and self.n == other.n'],
  ['a.py', '# -*- coding: utf-8 -*-\n# escapes in coding: see unicode_escape\ndecoding = rot13'],
  ['a.py', '# coding: iso-8859-15'],
  ['a.c', '#include <assert.h>\n#define LIMIT 3\nif (!p) exit(1);'],
  ['main.c', 'exit(status);'],
  ['a.c', 'if (!p) abort();'],
  ['launch.py', '    os.execvp(program, argv)'],
  ['a.c', 'exit( EXIT_FAILURE );'],
  ['a.cpp', 'void Exit();\ncontext->exit(scope);'],
  ['a.js', 'if (error.stack && /\\n +at /.test(error.stack)) trim(error)'],
  ['a.min.js', `try{a()}catch(e){e.stack=""}${'b();'.repeat(100)}c.test.d()`],
  ['build.rs', 'let root = env::var("CARGO_MANIFEST_DIR")?;'],
  ['a.py', 'def __eq__(self, other, strict=True):\n    return self.n == other.n'],
  ['a.cpp', 'bool operator==(const A& o) const { if (this == &o) return true;'],
  ['jest.setup.js', "import { expect } from '@jest/globals'"],
  ['bench/parse.bench.ts', "import { bench } from 'vitest'"],
])('%s: %j is not', (path, text) => {
  expect(found(path, text)).toEqual([])
})

test('reads a line with a long word or many names in time that grows with its length', () => {
  const line = [
    'a'.repeat(200_000),
    'globalThis.a.stack('.repeat(10_000),
    'operator == '.repeat(10_000),
  ].join(' ')
  expect(found('a.cpp', line)).toEqual([])
})
