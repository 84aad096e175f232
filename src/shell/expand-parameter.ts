import type { ParameterExpansionPart, ParameterOperation, SimpleExpansionPart, Word } from 'unbash'
import { globSource } from './glob-reg-exp.ts'
import type { Cursor, Shell, ShellState, ShellValue } from './shell-state.ts'
import { variable, withVariable } from './state.ts'
import { unescapeText } from './unescape-text.ts'
import { isKnown, known, unknownPart } from './unknown-part.ts'

/** The values of `$x` or `${x…}`: several of a list. What is set nowhere is not known: another command may have set it. */
export function expandParameter(
  part: SimpleExpansionPart | ParameterExpansionPart,
  at: Cursor,
  shell: Shell,
): readonly string[] {
  if (part.type === 'SimpleExpansion') return listOf(lookUp(part.text.slice(1), undefined, at, shell))
  const { parameter, prefix, index, operation } = part
  if (prefix === '#') {
    const [only, ...more] = listOf(lookUp(parameter, undefined, at, shell))
    return [only !== undefined && more.length === 0 && isKnown(only) ? String([...only].length) : unknownPart]
  }
  let name = parameter
  if (prefix === '!') {
    if (operation?.type === 'Names' || index !== undefined) return [unknownPart]
    const target = lookUp(parameter, undefined, at, shell)
    if (typeof target !== 'string' || !isKnown(target)) return [unknownPart]
    name = target
  }
  const subscript = index === undefined ? undefined : shell.expandWhole(index, at)
  const value = lookUp(name, subscript, at, shell)
  if (operation === undefined) return listOf(value)
  if (operation.type === 'Default') return defaulted(name, value, operation, at, shell)
  if (value === undefined) return [unknownPart]
  if (operation.type === 'Slice' && typeof value !== 'string') return value
  return listOf(value).map((each) => known(each, (text) => operate(text, operation, at, shell)))
}

function listOf(value: ShellValue | undefined): readonly string[] {
  if (value === undefined) return [unknownPart]
  return typeof value === 'string' ? [value] : value
}

function lookUp(name: string, index: string | undefined, at: Cursor, shell: Shell): ShellValue | undefined {
  const { state } = at
  if (name === '@' || name === '*') return state.parameters
  if (name === '_') return state.lastWord
  if (/^[#?$!-]$/.test(name)) return unknownPart
  if (name === '0') return state.variables.get('0') ?? 'bash'
  if (/^\d+$/.test(name)) return state.parameters[Number(name) - 1] ?? ''
  const value = variable(state, name, shell.world)
  if (value === undefined || typeof value === 'string') return value
  if (index === '@' || index === '*') return value
  const position = Number(index ?? 0)
  // The names of an associative list are not kept apart: any of its values may be meant.
  return Number.isInteger(position) ? (value.at(position) ?? '') : value
}

function defaulted(
  name: string,
  value: ShellValue | undefined,
  operation: Extract<ParameterOperation, { type: 'Default' }>,
  at: Cursor,
  shell: Shell,
): readonly string[] {
  const { operator, operand } = operation
  // Set but empty counts as unset also without the colon: `unset` leaves an empty value here.
  const unset = value === undefined || listOf(value).join('') === ''
  if (operator.endsWith('+')) return unset ? [''] : [shell.expandWhole(operand, at)]
  if (!unset) return listOf(value)
  if (operator.endsWith('?')) return [unknownPart]
  const given = shell.expandWhole(operand, at)
  if (operator.endsWith('=')) at.state = withVariable(at.state, name, given)
  return [given]
}

function operate(text: string, operation: ParameterOperation, at: Cursor, shell: Shell): string {
  switch (operation.type) {
    case 'Remove':
      return removed(text, operation.operator, pattern(operation.operand))
    case 'Replace':
      return replaced(
        text,
        operation.operator,
        pattern(operation.pattern),
        shell.expandWhole(operation.replacement, at),
      )
    case 'Slice':
      return sliced(text, number(operation.offset), number(operation.length))
    case 'CaseModification':
      return cased(text, operation.operator)
    case 'Transform':
      // A prompt is looked at a second time.
      if (operation.operand.value === 'P') runHidden(text, at.state, shell)
      return transformed(text, operation.operand.value)
    default:
      return unknownPart
  }

  function pattern(word: Word): string | null {
    return globSource(shell.expandPattern(word, at), true)
  }

  function number(word: Word | undefined): number | null | undefined {
    if (word === undefined) return undefined
    return arithmetic(shell.expandWhole(word, at), at, shell)
  }
}

function removed(text: string, operator: string, source: string | null): string {
  if (source === null) return unknownPart
  const whole = new RegExp(`^(?:${source})$`, 'su')
  const lengths = Array.from({ length: text.length + 1 }, (_, index) => index)
  if (text.length > 1000) return unknownPart
  const suffix = operator.startsWith('%')
  const fits = (count: number): boolean =>
    whole.test(suffix ? text.slice(text.length - count) : text.slice(0, count))
  const count = operator.length === 2 ? lengths.findLast(fits) : lengths.find(fits)
  if (count === undefined) return text
  return suffix ? text.slice(0, text.length - count) : text.slice(count)
}

function replaced(text: string, operator: string, source: string | null, replacement: string): string {
  if (source === null || source === '' || text.length > 10_000) return source === '' ? text : unknownPart
  const anchored = operator === '/#' ? `^(?:${source})` : operator === '/%' ? `(?:${source})$` : source
  return text.replace(new RegExp(anchored, operator === '//' ? 'gsu' : 'su'), () => replacement)
}

function sliced(text: string, from: number | null | undefined, length: number | null | undefined): string {
  if (from === null || from === undefined || length === null) return unknownPart
  const count = length ?? text.length
  const start = from < 0 ? Math.max(0, text.length + from) : from
  return text.slice(start, count < 0 ? text.length + count : start + count)
}

function cased(text: string, operator: string): string {
  const change = (part: string): string =>
    operator.startsWith('^') ? part.toUpperCase() : part.toLowerCase()
  return operator.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1)
}

function transformed(text: string, kind: string): string {
  switch (kind) {
    case 'U':
      return text.toUpperCase()
    case 'L':
      return text.toLowerCase()
    case 'u':
      return text.slice(0, 1).toUpperCase() + text.slice(1)
    case 'E':
      return unescapeText(text)
    default:
      return kind === 'Q' ? text : unknownPart
  }
}

/** The value of an arithmetic expression of whole numbers and known names; null when it has more in it. */
export function arithmetic(text: string, { state }: Cursor, shell: Shell): number | null {
  if (text.length > 200) return null
  const tokens = text.match(/\d+|[A-Za-z_]\w*|\*\*|[-+*/%()]|\S/g) ?? []
  let at = 0
  const value = sum()
  return at === tokens.length && value !== null && Number.isSafeInteger(value) ? value : null

  function sum(): number | null {
    let total = product()
    while (tokens[at] === '+' || tokens[at] === '-') {
      const operator = tokens[at]
      at += 1
      const next = product()
      total = total === null || next === null ? null : operator === '+' ? total + next : total - next
    }
    return total
  }

  function product(): number | null {
    let total = single()
    while (tokens[at] === '*' || tokens[at] === '/' || tokens[at] === '%') {
      const operator = tokens[at]
      at += 1
      const next = single()
      if (total === null || next === null || (operator !== '*' && next === 0)) total = null
      else
        total = operator === '*' ? total * next : operator === '/' ? Math.trunc(total / next) : total % next
    }
    return total
  }

  function single(): number | null {
    const token = tokens[at]
    at += 1
    if (token === undefined) return null
    if (token === '-' || token === '+') {
      const value = single()
      return value === null ? null : token === '-' ? -value : value
    }
    if (token === '(') {
      const value = sum()
      if (tokens[at] !== ')') return null
      at += 1
      return value
    }
    if (/^\d/.test(token)) return Number(token)
    const value = variable(state, token, shell.world)
    return typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : null
  }
}

/** Runs the substitutions in a text that the shell evaluates a second time, such as a prompt or an arithmetic index. */
export function runHidden(text: string, state: ShellState, shell: Shell): void {
  if (/\$\(|`/.test(text)) shell.script(`: <<${end}\n${text}\n${end}\n`, state)
}

/** The same for a text that is used as a number or a name: only an index in it is evaluated. */
export function runIndexes(text: string, state: ShellState, shell: Shell): void {
  if (/\[[^\]]*(?:\$\(|`)/.test(text)) runHidden(text, state, shell)
}

const end = 'END_OF_WHAT_IS_HIDDEN'
