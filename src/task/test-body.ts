/** The lines of a test: its decorators, and those behind the one that names it, without comments. */
export function bodyOf(lines: readonly string[], name: string): readonly string[] {
  const named = [`'${name}'`, `"${name}"`, `\`${name}\``, `${name}(`]
  const start = lines.findIndex((line) => named.some((each) => line.includes(each)))
  if (start < 0) return []
  const length = lines.slice(start + 1).findIndex((line) => caseStart.test(line))
  // A test on one line has its body there.
  const first = (lines[start] ?? '').replace(/^.*?(?:=>|\)\s*:)/, '').trim()
  const isPython = /^(?:async\s+)?def\s/.test(lines[start] ?? '')
  const above = isPython ? lines.slice(lines.lastIndexOf('', start) + 1, start) : []
  const decorator = above.findIndex((line) => line.startsWith('@'))
  return [
    ...(decorator < 0 ? [] : above.slice(decorator)),
    first,
    ...lines.slice(start + 1, length < 0 ? undefined : start + 1 + length),
  ].filter((line) => line !== '' && !/^(?:\/\/|#|\*)/.test(line))
}

const caseStart =
  /^(?:(?:it|test|specify|describe|suite)\b[.\w]*\s*[(`]|(?:async\s+)?def\s+test|class\s|func\s+(?:Test|Fuzz)|#\[|@(?:Test|pytest|unittest|mock|patch)|TEST(?:_\w)?\()/

/** Whether a test lost or changed a line, but for its layout, or gained one that can end it early. */
export function provesLess(before: readonly string[], now: readonly string[]): boolean {
  return (
    bare(before.join(' ')) !== bare(now.join(' ')) &&
    (before.some((line) => !isKept(line, now)) ||
      now.some((line) => !isKept(line, before) && evades.test(line)))
  )
}

const evades = /\b(?:return|try|catch|except|skip|xfail|exit|if)\b/

/** Whether a line is still there. A list of parameters may grow at its end. */
export function isKept(line: string, lines: readonly string[]): boolean {
  if (!/\w/.test(line)) return true
  const is = bare(line)
  const start = is.startsWith('@') ? is.replace(/[\])]+$/, '') : null
  return lines.map(bare).some((each) => each === is || (start !== null && each.startsWith(start)))
}

/** A line without its layout. */
function bare(line: string): string {
  return line
    .replaceAll(/[\s;]+/g, '')
    .replaceAll(/["`]/g, "'")
    .replaceAll(/,(?=[)\]}]|$)/g, '')
}

/** The name of a failed test in its source: pytest adds the parameters of a case to it. */
export function nameOf(failure: string): string {
  const name = failure.split(/ [>›] |::/).at(-1) ?? failure
  return (failure.includes('::') ? name.replace(/\[.*\]$/, '') : name).replace(/ \(.*$/, '')
}

/** Without their indentation. */
export function linesOf(text: string): readonly string[] {
  return text.split('\n').map((line) => line.trim())
}
