import {
  type AndOr,
  type Command,
  type CommandNode,
  type CompoundList,
  forEachChild,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Statement,
  type SyntaxNode,
} from 'unbash'
import { findInCommand } from './find-in-command.ts'
import type { FoundRun, RunDoubt } from './found-run.ts'
import { eitherState, type ShellState, stateAfter } from './shell-state.ts'
import { shellUnit } from './shell-unit.ts'
import { partKey, type Sought } from './sought-command.ts'
import { shellCall } from './unwrap-unit.ts'

export interface Walk {
  readonly sought: readonly Sought[]
  readonly start: ShellState
  isRoot(directory: string): boolean
}

export interface Walked {
  readonly found: readonly FoundRun[]
  /** There is a command besides the found ones that can fail. */
  readonly hasOthers: boolean
  readonly state: ShellState
}

/** Follows a script as a shell would: what of it has certainly succeeded when the whole has. */
export function walkScript(script: ParsedScript, walk: Walk): Walked {
  return walkList(script.commands, walk, walk.start)
}

/** Every simple command, however deep. */
export function commandsIn(node: SyntaxNode): readonly Command[] {
  const found: Command[] = []
  const visit = (child: SyntaxNode): void => {
    if (child.type === 'Command') found.push(child)
    forEachChild(child, visit)
  }
  visit(node)
  return found
}

function walkList(statements: readonly Statement[], walk: Walk, start: ShellState): Walked {
  let state = start
  const parts: Walked[] = []
  for (const [index, statement] of statements.entries()) {
    let part = walkStatement(statement, walk, state)
    state = part.state
    const next = statements[index + 1]
    if (statement.background)
      part = doubting(part, 'background', 'was put into the background, so its end is not known')
    else if (next !== undefined) {
      const after = nameOf(next)
      part = doubting(part, 'masked', `is followed by ${after}, which decides the exit code; join with &&`)
    }
    parts.push(part)
  }
  return joined(parts, state)
}

function walkStatement({ command }: Statement, walk: Walk, state: ShellState): Walked {
  return command.type === 'AndOr' ? walkChain(command, walk, state) : walkPart(command, walk, state)
}

/** `a && b || c`, from left to right: `||` hides every failure on its left, unless its right side always fails. */
function walkChain({ commands, operators }: AndOr, walk: Walk, start: ShellState): Walked {
  const before: ShellState[] = []
  let state = start
  let first = start
  let parts: Walked[] = []
  for (const [index, node] of commands.entries()) {
    const isAlternative = operators[index - 1] === '||'
    before.push(state)
    const ends = isAlternative && alwaysFails(node)
    const part = walkPart(node, walk, state)
    const chains = chainsEndingAt(commands, operators, index, walk, before)
    const own: Walked = { ...part, found: [...part.found, ...chains] }
    if (!isAlternative) parts.push(own)
    else if (!ends) {
      const hidden = `is followed by \`|| ${labelOf(node)}\`, which hides its failure`
      parts = parts.map((left) => doubting(left, 'masked', hidden))
      parts.push(doubting(own, 'conditional', 'runs only if what stands before `||` fails'))
    }
    // Whoever goes on after `cd x || exit 1` is in x.
    if (!isAlternative) state = part.state
    else if (!ends) state = eitherState(state, part.state)
    if (index === 0) first = state
  }
  return joined(parts, eitherState(first, state))
}

/** Declared commands that are chains themselves and end with this part. */
function chainsEndingAt(
  commands: readonly PipelineNode[],
  operators: readonly string[],
  end: number,
  walk: Walk,
  before: readonly ShellState[],
): readonly FoundRun[] {
  const isSame = (sought: Sought): boolean => {
    const start = end - sought.parts.length + 1
    return (
      start >= 0 &&
      sought.parts.every((part, offset) => {
        const node = commands[start + offset]
        const joins = offset === 0 || operators[start + offset - 1] === '&&'
        return joins && node !== undefined && partKey(node) === part
      })
    )
  }
  return walk.sought
    .filter((sought) => sought.parts.length > 1 && isSame(sought))
    .map((sought) => {
      const state = before[end - sought.parts.length + 1]
      return { sought, why: state === undefined ? null : doubtOf(state, walk), limited: false }
    })
}

function walkPart(node: PipelineNode, walk: Walk, state: ShellState): Walked {
  if (node.type !== 'Pipeline') return walkNode(node, walk, state)
  const isNegated = node.prefixes.some(({ type }) => type === 'Negation')
  const [only] = node.commands
  if (node.commands.length === 1 && only !== undefined) {
    const inner = walkNode(only, walk, state)
    return isNegated
      ? doubting(inner, 'masked', 'is negated with `!`, so its failure looks like success')
      : inner
  }
  const key = partKey(node)
  const whole = walk.sought
    .filter(({ parts }) => parts.length === 1 && parts[0] === key)
    .map((sought): FoundRun => ({ sought, why: doubtOf(state, walk) ?? pipeDoubt(state), limited: false }))
  const inner = node.commands.map((command, index) => {
    const part = walkNode(command, walk, state)
    const next = node.commands[index + 1]
    if (next === undefined || state.pipefail) return part
    const hides = `is piped into ${labelOf(next)}, whose exit code hides its own; set -o pipefail before it`
    return doubting(part, 'masked', hides)
  })
  const all = joined([...inner, { found: whole, hasOthers: whole.length === 0, state }], state)
  return isNegated ? doubting(all, 'masked', 'is negated with `!`, so its failure looks like success') : all
}

function walkNode(node: CommandNode, walk: Walk, state: ShellState): Walked {
  switch (node.type) {
    case 'Command':
      return walkCommand(node, walk, state)
    case 'BraceGroup':
      return walkList(node.body.commands, walk, state)
    case 'Subshell':
      return { ...walkList(node.body.commands, walk, state), state }
    case 'Redirected':
      return walkNode(node.command, walk, state)
    case 'TestCommand':
    case 'ArithmeticCommand':
      return { found: [], hasOthers: true, state }
    case 'Function': {
      const inner = insideOf(node, 'stands in the body of a function', walk, state)
      const why = `the function \`${node.name.value}\` is defined before it`
      return { ...inner, state: { ...state, changed: state.changed ?? why } }
    }
    default:
      return insideOf(
        node,
        `stands inside \`${keywords[node.type]}\`, which has an exit code of its own`,
        walk,
        state,
      )
  }
}

const keywords = {
  If: 'if',
  For: 'for',
  ArithmeticFor: 'for',
  Select: 'select',
  While: 'while',
  Case: 'case',
  Coproc: 'coproc',
} as const

/** Whatever stands inside may run or not, once or often. */
function insideOf(node: CommandNode, why: string, walk: Walk, state: ShellState): Walked {
  const inner: Walked[] = []
  let after = state
  const visit = (child: SyntaxNode): void => {
    if (child.type === 'CompoundList') {
      const part = walkList((child satisfies CompoundList).commands, walk, after)
      after = eitherState(after, part.state)
      inner.push(part)
    } else if (child.type === 'Command') {
      const part = walkCommand(child, walk, after)
      after = eitherState(after, part.state)
      inner.push(part)
    } else forEachChild(child, visit)
  }
  forEachChild(node, visit)
  return doubting({ ...joined(inner, after), hasOthers: true }, 'conditional', why)
}

function walkCommand(command: Command, walk: Walk, state: ShellState): Walked {
  const unit = shellUnit(command)
  const { found, isHarmless } = findInCommand(unit, walk.sought, doubtOf(state, walk))
  const ran = found.some(({ why }) => why?.kind !== 'other')
  const nested = ran || unit.assignments.length > 0 ? null : shellCall(unit)
  if (nested !== null) {
    const script = parse(nested.script)
    const start = { ...state, pipefail: nested.pipefail }
    if (script.errors === undefined) return { ...walkScript(script, { ...walk, start }), state }
  }
  return { found, hasOthers: !ran && !isHarmless, state: stateAfter(unit, state) }
}

function doubtOf(state: ShellState, walk: Walk): RunDoubt | null {
  if (state.changed !== null)
    return { kind: 'changed', text: `may not be what it says, because ${state.changed}` }
  if (state.directory === null)
    return {
      kind: 'directory',
      text: 'ran in a directory that cannot be told; only `cd` with the full path of the root before it is understood',
    }
  return walk.isRoot(state.directory)
    ? null
    : { kind: 'directory', text: 'ran in another directory than the root of the project' }
}

function pipeDoubt(state: ShellState): RunDoubt | null {
  return state.pipefail ? null : { kind: 'masked', text: 'is a pipe without `set -o pipefail` before it' }
}

function doubting(part: Walked, kind: RunDoubt['kind'], text: string): Walked {
  const found = part.found.map((each) => (each.why === null ? { ...each, why: { kind, text } } : each))
  return { ...part, found }
}

function joined(parts: readonly Walked[], state: ShellState): Walked {
  return {
    found: parts.flatMap(({ found }) => found),
    hasOthers: parts.some(({ hasOthers }) => hasOthers),
    state,
  }
}

/** `exit 1`, `false`, or a group that ends so: it turns no failure into success. */
function alwaysFails(node: PipelineNode): boolean {
  if (node.type === 'Command') {
    const { words } = shellUnit(node)
    const [name, code, ...more] = words
    if (name === 'false') return words.length === 1
    return (
      name === 'exit' && more.length === 0 && /^[1-9]\d{0,2}$/.test(code ?? '') && Number(code) % 256 !== 0
    )
  }
  if (node.type !== 'BraceGroup') return false
  const last = node.body.commands.at(-1)
  const isPlain = node.body.commands.every(
    ({ command, background }) => !background && command.type === 'Command',
  )
  return isPlain && last !== undefined && last.command.type === 'Command' && alwaysFails(last.command)
}

function nameOf({ command }: Statement): string {
  const [first] = command.type === 'AndOr' ? command.commands : [command]
  return first === undefined ? 'something' : `\`${labelOf(first)}\``
}

function labelOf(node: PipelineNode): string {
  if (node.type === 'Pipeline') return node.commands[0] === undefined ? '|' : labelOf(node.commands[0])
  if (node.type !== 'Command') return node.type === 'BraceGroup' ? '{ … }' : node.type.toLowerCase()
  return (node.name?.text ?? node.prefix[0]?.type ?? '').slice(0, 40)
}
