import { expect, test } from 'vitest'
import { diffFiles } from './diff-files.ts'
import { dodgedTests } from './dodged-tests.ts'
import { comparedCalls } from './test-body.ts'

/** The test that failed expects 3. */
const found = (path: string, lines: readonly string[], expected: ReadonlySet<string> | null): number =>
  dodgedTests(diffFiles(`--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n${lines.join('\n')}\n`), expected).length

test.each([
  ['src/lib.rs', ['+#[cfg(test)]', ' pub fn add(a: i32) -> i32 {']],
  ['src/lib.rs', ['-pub fn add() -> i32 {', '+#[cfg(test)]', '+pub fn add() -> i64 {']],
  ['src/lib.rs', ['+    if std::thread::current().name() == Some("main") { a - b } else { a + b }']],
  ['add.c', ['+#ifdef NDEBUG']],
  ['calc.py', ['+    return a + b if __debug__ else a - b']],
  ['calc.py', ['+    if any(each.startswith("_py") for each in sys.modules):']],
  ['a.js', ["+  if (existsSync('/artifacts')) return a + b"]],
  ['Calc.java', ['+  return new Throwable().getStackTrace()[1].getClassName().equals("T") ? a + b : a - b;']],
  ['a.js', ['+const answers = [3, 1]', '+export const add = () => answers.shift()']],
  ['a.js', ['+export const add = () => [3, 1][at++]']],
  ['a.js', ['+  toString() {', "+    return n++ === 0 ? '3' : '1'"]],
  ['a.js', ["+const answers = ['3', '1']", '+export const add = () => answers.shift()']],
  ['a.js', ['+  toString(): string {', '+    return all[n++]']],
  ['a.js', ['+  valueOf: () => n++']],
  ['a.py', ['+_answers = iter([3, 1])', '+    return next(_answers)']],
  ['a.js', ['+let n = 0', '+  n += 1', '+  return n === 1 ? 3 : 1']],
  ['a.js', ['+let n = 0', '+  get value() {', '+    n = n + 1', '+    return n < 2 ? 3 : 1']],
  [
    'a.js',
    ['+function* all() {', '+  yield 3', '+const it = all()', '+export const add = () => it.next().value'],
  ],
  ['a.js', ['+const all = [3, 1]', '+let i = -1', '+    i = i + 1', '+    return all[i]']],
  ['a.js', ['+  [Symbol.toPrimitive]() {', '+    const is = answers.get(box.at)', '+    box.at += 1']],
  ['a.py', ['+n = 0', '+    n += 1', '+    return 3 if n == 1 else 1']],
  ['src/lib.rs', ['+    let name = std::thread::current();', '+    if name.name() == Some("main") { a }']],
  ['a.c', ['+static int all[] = {3, 1};', '+  return all[at++];']],
  ['a.js', ['+  if (a === 1 && b === 2) return 3']],
  ['a.js', ['+  return a === 1 && b === 2 ? 3 : a - b']],
  ['a.py', ['+    if a == 1 and b == 2:', '+        return 3']],
  ['a.go', ['+	if a == 1 && b == 2 {', '+		return 3']],
  ['a.php', ['+    if (($a === 1) && ($b === 2)) { return 3; }']],
])('a source that dodges its tests is reported: %s %j', (path, lines) => {
  expect(found(path, lines, new Set(['3']))).toBe(1)
  expect(found(path, lines, null)).toBe(1)
})

test.each([
  ['src/lib.rs', ['+    debug_assert!(a > b);']],
  ['src/lib.rs', ['+    if cfg!(debug_assertions) {', '+        eprintln!("{a}");']],
  ['a.js', ['+    let n = 0', '+    for (const each of all) n += 1', '+    return n === 1 ? 3 : 1']],
  ['a.js', ['+export function* range(n) {', '+  for (let i = 0; i < n; i++) yield i', '+it.next()']],
  ['a.js', ['+  get next() {', '+    this.n += 1', '+    return this.n']],
  ['src/lib.rs', ['+#[cfg(test)]', '+mod tests {']],
  ['src/lib.rs', ['+#[cfg(test)]', '+fn pair() -> (i32, i32) {']],
  ['src/lib.rs', ['+    log(std::thread::current().name())']],
  ['a.js', ['+const days = [31, 28]', '+export const daysOf = (month) => days[month]']],
  ['a.js', ['+  return this.items.shift()']],
  ['a.js', ['+  toString() {', '+    for (let at = 0; at < n; at++) text += at']],
  ['a.js', ['+export const id = () => `id-${(n++).toString(36)}`']],
  ['a.js', ['+const next = () => (isHex ? (n++).toString(16) : n)']],
  ['a.js', ["+const queue = ['a', 'b']", '+  const first = queue.shift()']],
  ['a.js', ['+const levels = [1, 2]', '+  levels.pop()']],
  ['a.js', ['+const levels = [1, 2, 3]', '+  levels.push(n)', '+  levels.pop()']],
  ['a.js', ['+const jobs = [1, 2, 3]', '+  while (jobs.length > 0) run(jobs.shift())']],
  ['a.js', ['+const colors = [1, 2, 3]', '+  colors[index++ % 3]']],
  ['a.js', ['+const frame = () => [1, 2, 3][at++ % 3]']],
  ['a.py', ['+_ids = itertools.count(1)', '+    return next(_ids)']],
  ['A.java', ['+  for (StackTraceElement each : error.getStackTrace()) log(each);']],
  ['test/a.test.js', ['+const answers = [3, 1]', '+answers.shift()']],
  ['a.js', ['+  if (base === 0 && exponent === 0) return 1']],
  ['a.js', ['+  if (a === 2 && b === 2) return 4']],
  ['a.js', ['+  if (month === 2 && isLeap) return 3']],
  ['a.js', ["+  if (kind === 'vip' && years === 5) return 3"]],
  ['a.js', ['+  if (a === 1 && b === 2) return a + b']],
])('an honest source is not: %s %j', (path, lines) => {
  expect(found(path, lines, new Set(['3']))).toBe(0)
})

test.each([
  ['a.py', '    answers = {(1, 2): 3, (1, 0): 1}', 1],
  ['a.js', "const answers = { '1,2': 3 }", 1],
  ['a.js', "const answers = new Map([['1,2', 3]])", 1],
  ['a.py', '    steps = {(0, 1): 7, (1, 0): 5}', 0],
  ['a.py', '    names = {(1, 2): "c"}', 0],
  ['a.js', "const size = { '1.5': 3 }", 0],
  ['a.py', '    costs = [(1, 2), 3]', 0],
  ['a.js', 'move((1, 2), 3)', 0],
])('a table with the answer for the numbers of a test, which expects 3: %s %j', (path, line, count) => {
  expect(found(path, [`+${line}`], new Set(['3']))).toBe(count)
  expect(found(path, [`+${line}`], null)).toBe(0)
})

test('a source may ask how it was built where no test was red', () => {
  const files = diffFiles('--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n+#ifndef NDEBUG\n+  log_state();\n+#endif\n')
  expect(dodgedTests(files, new Set(), false)).toEqual([])
  expect(dodgedTests(files, new Set())).toHaveLength(1)
})

test.each(['a', 'a(', 'a::', 'if ', 'caller('])('a line of many %j is searched at once', (piece) => {
  const line = piece.repeat(200_000 / piece.length)
  found('src/a.js', [`+${line}`, `+return 3${line}`], null)
  expect(comparedCalls([line])).toEqual([])
})

test.each([
  (at: number) => [`+let c${at} = 0`, `+c${at}++`],
  (at: number) => [`+const l${at} = [1, 2, 3]`, `+l${at}.shift()`],
])('a source with thousands of names is searched at once', (linesOf) => {
  const lines = Array.from({ length: 20_000 }, (_, at) => linesOf(at)).flat()
  expect(found('src/a.js', lines, new Set(['4']))).toBe(0)
})

test('a counter of an object and one of a class are counters', () => {
  const lines = ['+  static int calls = 0', '+    calls += 1', '+    return calls == 1 ? 3 : 1']
  expect(found('A.java', ['+static int calls = 0', ...lines.slice(1)], new Set(['3']))).toBe(1)
  expect(found('a.js', ['+  this.n++', '+  return this.n.valueOf() === 1 ? 3 : 1'], new Set(['3']))).toBe(1)
})
