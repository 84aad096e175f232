import {
  type AndOr,
  type Command,
  type CommandNode,
  forEachChild,
  type ParsedScript,
  type Pipeline,
  type PipelineNode,
  type Script,
  type Statement,
  type SyntaxNode,
} from 'unbash'
import * as exits from './exit-status.ts'
import { eitherState, type ScriptState, stateAfter } from './script-state.ts'
import { literalWord, simpleCommand } from './simple-command.ts'

/** What a caller wants to know about the commands of a script. */
export interface ScriptReader<Item> {
  /** `exit` is the exit status of the command, as far as that of the script shows it. */
  command(command: Command, state: ScriptState, exit: exits.ExitStatus): CommandReading<Item>
  /** Items for a pipeline of several commands as a whole. */
  pipeline?(pipeline: Pipeline, state: ScriptState): readonly Item[]
  /** Items for the parts of a chain such as `a && b` up to `end`; `before[i]` is the state before part `i`. */
  chain?(chain: AndOr, end: number, before: readonly ScriptState[]): readonly Item[]
  /** Read commands inside words too, such as `$(tool list)`. */
  readonly substitutions: boolean
}

export interface CommandReading<Item> {
  readonly found: readonly ScriptItem<Item>[]
  /** It can fail and is not one of the items. */
  readonly isOther: boolean
  /** The script it runs. Its items are added to `found`. */
  readonly script?: {
    readonly parsed: ParsedScript
    readonly pipefail: boolean
    readonly exit: exits.ExitStatus
  }
}

/** An item, and what the end of the script says about its end. */
export interface ScriptItem<Item> {
  readonly item: Item
  /** Why the success of the script does not prove its success; null when it does. */
  readonly doubt: exits.ExitDoubt | null
  readonly exit: exits.ExitStatus
}

export interface Walked<Item> {
  readonly found: readonly ScriptItem<Item>[]
  /** There is a command besides the items that can fail. */
  readonly hasOthers: boolean
  readonly state: ScriptState
}

/**
 * Follows a script as a shell would and reads its commands in the order they are written. It shows what of it certainly succeeded
 * when the whole did, and what the exit status of the whole says about each command.
 */
export function walkScript<Item>(
  script: Pick<Script, 'commands'>,
  start: ScriptState,
  reader: ScriptReader<Item>,
  whole: exits.ExitStatus = exits.unknownExit,
  depth = 0,
): Walked<Item> {
  return walkList(script.commands, start, whole)

  function walkList(
    statements: readonly Statement[],
    before: ScriptState,
    exit: exits.ExitStatus,
  ): Walked<Item> {
    let state = before
    const parts: Walked<Item>[] = []
    for (const [index, statement] of statements.entries()) {
      const next = statements[index + 1]
      const doubt = statement.background
        ? exits.inBackground
        : next === undefined || endsShell(statement)
          ? null
          : exits.followedBy(next)
      const part = walkStatement(statement, state, doubt === null ? exit : exits.unknownExit)
      state = part.state
      parts.push(doubting(part, doubt))
    }
    return joined(parts, state)
  }

  function walkStatement({ command }: Statement, state: ScriptState, exit: exits.ExitStatus): Walked<Item> {
    return command.type === 'AndOr' ? walkChain(command, state, exit) : walkPart(command, state, exit)
  }

  /** `a && b || c`, from left to right: `||` hides every failure on its left, unless its right side always fails. */
  function walkChain(chain: AndOr, before: ScriptState, exit: exits.ExitStatus): Walked<Item> {
    const { commands, operators } = chain
    const failing = commands.map((node, index) => operators[index - 1] === '||' && alwaysFails(node))
    const chainExits = exits.exitsInChain(operators, exit, (index) => failing[index] === true)
    const states: ScriptState[] = []
    let state = before
    let first = before
    let parts: Walked<Item>[] = []
    for (const [index, node] of commands.entries()) {
      const isAlternative = operators[index - 1] === '||'
      states.push(state)
      const part = walkPart(node, state, chainExits.parts[index] ?? exits.unknownExit)
      const chains = (reader.chain?.(chain, index, states) ?? []).map(certain)
      const own = { ...part, found: [...part.found, ...chains] }
      if (!isAlternative) parts.push(own)
      else if (failing[index]) parts.push({ ...doubting(own, exits.alternative), hasOthers: false })
      else {
        const hidden = exits.hiddenBy(node)
        parts = parts.map((left) => doubting(left, hidden))
        parts.push(doubting(own, exits.alternative))
      }
      // After `cd x || exit 1` the shell is in x.
      if (!isAlternative) state = part.state
      else if (!failing[index]) state = eitherState(state, part.state)
      if (index === 0) first = state
    }
    const { blame } = chainExits
    if (blame !== null)
      parts = [...blamingLast(parts.slice(0, blame.count), blame.code), ...parts.slice(blame.count)]
    return joined(parts, eitherState(first, state))
  }

  function walkPart(node: PipelineNode, state: ScriptState, exit: exits.ExitStatus): Walked<Item> {
    if (node.type !== 'Pipeline') return walkNode(node, state, exit)
    const isNegated = node.prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1
    const inner = walkPipeline(node, state, isNegated ? exits.oppositeExit(exit) : exit)
    return isNegated ? doubting(inner, exits.negated) : inner
  }

  function walkPipeline(node: Pipeline, state: ScriptState, exit: exits.ExitStatus): Walked<Item> {
    const [only, ...more] = node.commands
    if (only !== undefined && more.length === 0) return walkNode(only, state, exit)
    const isBlamed = state.pipefail && exit.code !== null && exit.code !== 0
    const parts = node.commands.map((command, index) => {
      const next = node.commands[index + 1]
      const isSeen = !isBlamed && (next === undefined || state.pipefail)
      const part = walkNode(command, state, isSeen ? exit : exits.unknownExit)
      return next === undefined || state.pipefail ? part : doubting(part, exits.pipedInto(next))
    })
    const whole = (reader.pipeline?.(node, state) ?? []).map(certain)
    const inner = isBlamed ? blamingLast(parts, exit.code) : parts
    return joined([...inner, { found: whole, hasOthers: whole.length === 0, state }], state)
  }

  function walkNode(node: CommandNode, state: ScriptState, exit: exits.ExitStatus): Walked<Item> {
    switch (node.type) {
      case 'Command':
        return walkCommand(node, state, exit)
      case 'BraceGroup':
        return walkList(node.body.commands, state, exit)
      case 'Subshell':
        return { ...walkList(node.body.commands, state, exit), state }
      case 'Redirected': {
        const inner = walkNode(node.command, state, exit)
        return { ...inner, found: [...substituted(node.redirects, state), ...inner.found] }
      }
      case 'Function': {
        const inner = walkInside([node], 'is in the body of a function', state)
        const why = `the function \`${node.name.value}\` is defined before it`
        return { ...inner, state: { ...state, changed: state.changed ?? why } }
      }
      case 'For': {
        // It runs once for each word, and ends as the last of its body does.
        const words = /^[a-z]\w*$/.test(node.name.text) ? (node.wordlist ?? []) : []
        if (words.length > 0 && words.every((word) => literalWord(word) !== null))
          return { ...walkList(node.body.commands, state, exits.unknownExit), hasOthers: true }
        return walkInside([node], insideOf('for'), state)
      }
      case 'TestCommand':
      case 'ArithmeticCommand':
        return { found: substituted([node], state), hasOthers: true, state }
      default: {
        const keyword = keywords[node.type]
        return walkInside([node], insideOf(keyword), state)
      }
    }
  }

  /** Commands inside these nodes may run or not, once or often. */
  function walkInside(nodes: readonly SyntaxNode[], why: string, before: ScriptState): Walked<Item> {
    const parts: Walked<Item>[] = []
    let state = before
    const visit = (child: SyntaxNode): void => {
      if (child.type === 'CompoundList' || child.type === 'Script')
        add(walkList(child.commands, state, exits.unknownExit))
      else if (child.type === 'Command') add(walkCommand(child, state, exits.unknownExit))
      else forEachChild(child, visit)
    }
    const add = (part: Walked<Item>): void => {
      state = eitherState(state, part.state)
      parts.push(part)
    }
    for (const node of nodes) forEachChild(node, visit)
    const inner = { ...joined(parts, state), hasOthers: true }
    return doubting(inner, { kind: 'conditional', text: why })
  }

  function walkCommand(command: Command, state: ScriptState, exit: exits.ExitStatus): Walked<Item> {
    const { found, isOther, script } = reader.command(command, state, exit)
    const after = stateAfter(simpleCommand(command), state)
    if (script === undefined)
      return { found: [...inWordsOf(command, state, exit), ...found], hasOthers: isOther, state: after }
    const inside = { ...state, pipefail: script.pipefail }
    const inner =
      depth < maxDepth
        ? walkScript(script.parsed, inside, reader, script.exit, depth + 1)
        : { found: [], hasOthers: true }
    // The script contains the substitutions of its own words: they are found there.
    const before = substituted(command.prefix, state)
    const hasOthers = found.length > 0 && !isOther ? false : inner.hasOthers
    return { found: [...before, ...found, ...inner.found], hasOthers, state: after }
  }

  function inWordsOf(
    command: Command,
    state: ScriptState,
    exit: exits.ExitStatus,
  ): readonly ScriptItem<Item>[] {
    if (command.name !== undefined)
      return substituted([...command.prefix, command.name, ...command.suffix], state)
    // `X=$(tool get)` ends as the tool does.
    const last = command.prefix.at(-1)
    const value = last?.type === 'Assignment' && last.value.type === 'Word' ? last.value : undefined
    const [only, ...more] = value?.parts ?? []
    const inner = only?.type === 'CommandExpansion' && more.length === 0 ? only.script : undefined
    if (!reader.substitutions || inner === undefined) return substituted(command.prefix, state)
    return [
      ...substituted(command.prefix.slice(0, -1), state),
      ...walkList(inner.commands, state, exit).found,
    ]
  }

  function substituted(nodes: readonly SyntaxNode[], state: ScriptState): readonly ScriptItem<Item>[] {
    return reader.substitutions ? walkInside(nodes, 'is inside a word of another command', state).found : []
  }
}

const maxDepth = 8

function insideOf(keyword: string): string {
  return `is inside \`${keyword}\`, which has an exit code of its own`
}

const keywords = {
  If: 'if',
  ArithmeticFor: 'for',
  Select: 'select',
  While: 'while',
  Case: 'case',
  Coproc: 'coproc',
} as const

/** `exit 1`, `false`, or a group that ends so: it never turns a failure into success. */
function alwaysFails(node: PipelineNode): boolean {
  if (node.type === 'Command') {
    const { words } = simpleCommand(node)
    const [name, code, ...more] = words
    if (name === 'false') return words.length === 1
    return (
      name === 'exit' && more.length === 0 && /^[1-9]\d{0,2}$/.test(code ?? '') && Number(code) % 256 !== 0
    )
  }
  if (node.type !== 'BraceGroup' && node.type !== 'Subshell') return false
  const last = node.body.commands.at(-1)
  // What is before it may end the shell with success: `{ exit 0; exit 1; }`.
  const before: ScriptState = { directory: null, pipefail: false, changed: null }
  const isPlain = node.body.commands.every(
    ({ command, background }) =>
      !background &&
      command.type === 'Command' &&
      (command === last?.command || stateAfter(simpleCommand(command), before).changed === null),
  )
  return isPlain && last !== undefined && last.command.type === 'Command' && alwaysFails(last.command)
}

/** `run || exit 1`: when it fails, nothing behind it runs, and the whole fails. */
function endsShell({ command }: Statement): boolean {
  const last = command.type === 'AndOr' && command.operators.at(-1) === '||' ? command.commands.at(-1) : null
  const end = last?.type === 'BraceGroup' ? last.body.commands.at(-1)?.command : last
  return (
    last != null && alwaysFails(last) && end?.type === 'Command' && simpleCommand(end).words[0] === 'exit'
  )
}

/** A doubt from further inside is the nearer reason and stays. */
function doubting<Item>(part: Walked<Item>, doubt: exits.ExitDoubt | null): Walked<Item> {
  if (doubt === null || part.found.length === 0) return part
  return { ...part, found: part.found.map((each) => ({ ...each, doubt: each.doubt ?? doubt })) }
}

function certain<Item>(item: Item): ScriptItem<Item> {
  return { item, doubt: null, exit: exits.unknownExit }
}

/** One of these failed; the last item is taken to be the one. */
function blamingLast<Item>(parts: readonly Walked<Item>[], code: number | null): Walked<Item>[] {
  const at = parts.findLastIndex(({ found }) => found.length > 0)
  return parts.map((part, index) => {
    const last = part.found.at(-1)
    if (index !== at || last === undefined) return part
    return { ...part, found: [...part.found.slice(0, -1), { ...last, exit: { code, approximate: true } }] }
  })
}

function joined<Item>(parts: readonly Walked<Item>[], state: ScriptState): Walked<Item> {
  return {
    found: parts.flatMap(({ found }) => found),
    hasOthers: parts.some(({ hasOthers }) => hasOthers),
    state,
  }
}
