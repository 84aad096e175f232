import { expect, test } from 'vitest'
import { looserCalls, testsOf } from './lost-registrations.ts'

const cmake = 'add_executable(t t.c)\nadd_test(NAME adds COMMAND t)\n'
const meson = "test('adds', t)\n"
const discovered = 'gtest_discover_tests(t)\n'

test.each([
  [cmake, 'COMMAND t)', 'COMMAND ls)'],
  [cmake, 'COMMAND t)', 'COMMAND sh -c "t || true")'],
  [cmake, 'COMMAND t)', 'COMMAND env t=1 python3 -c pass t)'],
  [cmake, 'COMMAND t)', 'COMMAND t --skip-all)'],
  [cmake, 'COMMAND t)', 'COMMAND t CONFIGURATIONS Never)'],
  [cmake, 'COMMAND t)', 'COMMAND t WORKING_DIRECTORY x CONFIGURATIONS Never)'],
  [cmake, 'COMMAND t)\n', 'COMMAND t)\nset_tests_properties(adds PROPERTIES WILL_FAIL TRUE)\n'],
  [cmake, 'COMMAND t)\n', 'COMMAND t)\nset_property(TEST adds PROPERTY PASS_REGULAR_EXPRESSION ".")\n'],
  [cmake, 't.c', 'u.c'],
  [meson, ', t)', ", sh, args: ['-c', 'true', t])"],
  [meson, ', t)', ", t, args: ['--skip-all'])"],
  [meson, ', t)', ', t, should_fail: true)'],
  [meson, ', t)', ', t, timeout: 30, should_fail: true)'],
  [discovered, 't)', 't TEST_FILTER none)'],
  [discovered, 't)', 't PROPERTIES WILL_FAIL TRUE)'],
])('a build that runs a test with less is reported: %j, %j for %j', (before, from, to) => {
  expect(looserCalls(before, before.replace(from, to))).toHaveLength(1)
})

test.each([
  [cmake, 'add_test', 'add_test(NAME more COMMAND u --all)\nadd_test'],
  [cmake, 't.c)', 'more.c t.c)'],
  [cmake, 'COMMAND t)', 'COMMAND t WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")'],
  [cmake, 'NAME adds COMMAND t', '\n  NAME adds\n  COMMAND t\n'],
  [cmake, 'COMMAND t)\n', 'COMMAND t)\nset_tests_properties(adds PROPERTIES TIMEOUT 30)\n'],
  [cmake, 'add_test', 'set_property(TEST more PROPERTY WILL_FAIL TRUE)\nadd_test'],
  [meson, ', t)', ", t, timeout: 30, suite: 'unit')"],
  [discovered, 't)', 't PROPERTIES TIMEOUT 30)'],
])('a build that runs it as before is not: %j, %j for %j', (before, from, to) => {
  expect(looserCalls(before, before.replace(from, to))).toEqual([])
})

const old =
  'add_executable(old old.c more.c)\nadd_test(NAME old COMMAND old)\nadd_test(NAME both COMMAND old t)\n'
const build = `${cmake}${old}`

test('a program goes with its tests when all its sources went, but not with a test that starts another program', () => {
  const all = (path: string): boolean => ['old.c', 'more.c'].includes(path)
  const without = build.replace(/^.*\bold\b.*\n/gm, '')
  expect(looserCalls(build, without, false, all)).toEqual(['add_test(NAME both COMMAND old t)'])
  expect(looserCalls(build, without, false, (path) => path === 'old.c')).toHaveLength(3)
  expect(looserCalls(build, '', false, all)).toHaveLength(3)
  expect(testsOf(build, all)).toEqual({ 'old.c': 1, 'more.c': 0 })
  expect(testsOf(build, (path) => path === 'old.c')).toEqual({})
})

test('a build file with thousands of calls or empty lines is read at once', () => {
  const calls = (end: string): string =>
    Array.from(
      { length: 8_000 },
      (_, at) => `add_executable(t${at} ${at}.c)\nadd_test(n${at} t${at}${end})\n`,
    ).join('')
  expect(looserCalls(calls(''), calls(' --all'))).toHaveLength(8_000)
  expect(Object.keys(testsOf(calls(''), () => true))).toHaveLength(8_000)
  expect(looserCalls('\n'.repeat(200_000), '')).toEqual([])
})
