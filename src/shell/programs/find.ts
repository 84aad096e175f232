import { posix } from 'node:path'
import { absolutePath } from '../absolute-path.ts'
import { charsOf, globRegExp } from '../glob-reg-exp.ts'
import { type Arg, argOf, type ProgramCall } from '../shell-state.ts'
import { unescapeText } from '../unescape-text.ts'
import { searchResult } from '../unknown-part.ts'

interface Condition {
  readonly negated: boolean
  readonly holds: (path: string, relative: string) => boolean
}

/** `find`: records what it would delete or pass to other commands. Returns the text that means what it finds. */
export function find({ args, state, shell }: ProgramCall): string {
  const start = args.findIndex(({ value }) => /^(?:-(?![HLPDO])|\(|!)/.test(value))
  const expression = start === -1 ? [] : args.slice(start)
  const places = (start === -1 ? args : args.slice(0, start)).filter(({ value }) => !/^-[HLPDO]/.test(value))
  const roots = places.length === 0 ? [argOf('.')] : places
  const conditions: Condition[] = []
  const actions: (readonly Arg[])[] = []
  let either = false
  let negated = false
  let deletes = false
  let directories = false
  let format: string | null = null
  for (let index = 0; index < expression.length; index += 1) {
    const { value } = expression[index] ?? argOf('')
    const next = expression[index + 1]
    if (value === '!' || value === '-not') {
      negated = true
      continue
    }
    if (value === '-o' || value === '-or' || value === ',') either = true
    else if (value === '-delete') deletes = true
    else if (/^-(?:exec|execdir|ok|okdir)$/.test(value)) {
      const end = expression.findIndex((each, at) => at > index && /^(?:;|\+)$/.test(each.value))
      const stop = end === -1 ? expression.length : end
      actions.push(expression.slice(index + 1, stop))
      index = stop
    } else if (/^-f(?:print0?|ls|printf)$/.test(value) && next !== undefined) {
      shell.write(next, `find ${value} writes it`, state)
      index += 1
    } else if (/^-i?(?:name|path|wholename|regex)$/.test(value) && next !== undefined) {
      const holds = nameCondition(value, next.value)
      if (holds !== null) conditions.push({ negated, holds })
      index += 1
    } else if (value === '-printf' && next !== undefined) {
      format = next.value
      index += 1
    } else if (value === '-type') {
      if (next?.value === 'd' && !negated) directories = true
      index += 1
    } else if (valued.has(value)) index += 1
    negated = false
  }
  const bases = roots.map(({ value }) => absolutePath(value, state.cwd))
  const found = searchResult(shell.search(bases, (path) => matches(path)))
  if (deletes && !directories) shell.write(argOf(found), 'find -delete removes it', state)
  for (const action of actions)
    shell.run(
      action.map(({ value, text }) => ({ value: value.replaceAll('{}', found), text })),
      state,
    )
  return format === null ? `${found}\n` : unescapeText(format.replaceAll(/%[pPfh]/g, found))

  function matches(path: string): boolean {
    const base = bases.find((each) => path === each || path.startsWith(each === '/' ? '/' : `${each}/`))
    const parts =
      base === undefined
        ? [path]
        : path
            .slice(base.length)
            .split('/')
            .filter((part) => part !== '')
    const root = base === undefined ? '' : (roots[bases.indexOf(base)]?.value.replace(/\/$/, '') ?? '.')
    // Everything below a found directory is affected too.
    return parts.some((_, index) => {
      if (directories && index === parts.length - 1) return false
      const relative = [root, ...parts.slice(0, index + 1)].join('/')
      return conditionsHold(
        `${base ?? ''}/${parts.slice(0, index + 1).join('/')}`,
        relative,
        index === parts.length - 1,
      )
    })
  }

  function conditionsHold(path: string, relative: string, last: boolean): boolean {
    const wanted = conditions.filter((each) => !each.negated)
    const unwanted = conditions.filter((each) => each.negated)
    if (wanted.length === 0 && !last && !directories) return false
    if (!either && unwanted.some(({ holds }) => holds(path, relative))) return false
    if (wanted.length === 0) return true
    return either
      ? wanted.some(({ holds }) => holds(path, relative))
      : wanted.every(({ holds }) => holds(path, relative))
  }
}

const valued = new Set(
  '-maxdepth -mindepth -mtime -mmin -atime -amin -ctime -cmin -newer -size -user -group -perm -links -inum -regextype -samefile -printf -xtype -uid -gid -fstype'.split(
    ' ',
  ),
)

function nameCondition(option: string, pattern: string): Condition['holds'] | null {
  if (option.endsWith('regex')) return null
  const across = /path|wholename/.test(option)
  const regexp = globRegExp(charsOf(pattern, false), { across, ignoreCase: option.startsWith('-i') })
  if (regexp === null) return null
  return across ? (_path, relative) => regexp.test(relative) : (path) => regexp.test(posix.basename(path))
}
