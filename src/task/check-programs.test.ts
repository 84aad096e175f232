import { expect, test } from 'vitest'
import { checkPrograms } from './check-programs.ts'

const check = '#include "add.h"\nint main(void) { return add(1, 2) != 3; }\n'
const rule = 'test: t\n\t./t\nt: t.c add.c\n\tcc -o t t.c add.c'
const cmake = 'add_executable(t t.c)\nadd_test(NAME adds COMMAND t)\n'

test.each<[string, Record<string, string>, string[]]>([
  ['a rule of make', { Makefile: rule }, ['t.c']],
  ['a program that another target needs too', { Makefile: `all: t\n${rule}` }, []],
  ['a test of CMake', { 'CMakeLists.txt': cmake }, ['t.c']],
  ['a program that CMake installs', { 'CMakeLists.txt': `${cmake}install(TARGETS t)\n` }, []],
  [
    'a program that is tested by its arguments',
    { 'CMakeLists.txt': cmake.replace('COMMAND t', 'COMMAND t 1 2') },
    [],
  ],
])('finds the source of a check: %s', async (_, builds, found) => {
  const files: Record<string, string> = { ...builds, 't.c': check, 'add.c': 'int add(int a, int b);' }
  const programs = await checkPrograms({
    steps: [{ command: 'make test' }],
    definitions: builds.Makefile === undefined ? [] : [rule],
    paths: Object.keys(files),
    changed: ['t.c', 'add.c'],
    read: async (path) => files[path] ?? '',
  })
  expect([...programs]).toEqual(found)
})
