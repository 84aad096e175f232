import { parse, type Word } from 'unbash'
import { absolutePath, descriptorOf, leadsTo } from './absolute-path.ts'
import { expandPattern, expandWhole, expandWord } from './expand-word.ts'
import { followNode, visitSubstitutions } from './follow-node.ts'
import { runCommand } from './run-command.ts'
import type { Arg, CommandOutcome, Shell, ShellState } from './shell-state.ts'
import { initialState, outputOf, withFile } from './state.ts'
import { isKnown, searchIndex, unknownPart, withoutUnknownParts } from './unknown-part.ts'
import type { World } from './world.ts'

/** What a tool call would change, as far as it is known beforehand. */
export interface CallTargets {
  /** Files it would create, change, replace or remove. Absolute; links are not resolved yet. */
  readonly writes: readonly WriteTarget[]
  /** Programs it would run, each with its words as far as they are known; null for an unknown word. */
  readonly runs: readonly (readonly (string | null)[])[]
  /** What cannot be judged: a rule refuses it when its text names something protected. */
  readonly opaque: readonly OpaquePart[]
  /** Directories in which it creates files with unknown names, such as those of an archive. */
  readonly into?: readonly FilledDirectory[]
  /** Searches whose results it gives to a program, as arguments or as its input. */
  readonly searched?: readonly GivenSearch[]
}

export interface GivenSearch {
  readonly program: string
  /** Where the search begins. */
  readonly roots: readonly string[]
  matches(path: string): boolean
}

export interface FilledDirectory {
  /** Absolute, with NUL for what is not known; links are not resolved yet. */
  readonly path: string
  readonly how: string
  /** As written in the call. */
  readonly written: string
}

export interface WriteTarget {
  readonly path: string
  /** In words for a message: `redirects to it`, `sed -i`, `moves it away`. */
  readonly how: string
  /** The path as written in the call. */
  readonly written?: string
  /** The name itself is replaced or removed, not what a link at it leads to. */
  readonly entry?: boolean
  /** Everything below `look` is changed at the same place below `path`; with `only`, just the paths for which it is true. */
  readonly below?: { readonly look: string; readonly only?: (path: string) => boolean }
}

export interface OpaquePart {
  readonly text: string
  readonly why: string
  /** The text is one name, not a command. */
  readonly exact?: boolean
  /** The path that is written to, with NUL for what is not known. */
  readonly shape?: string
  /** The same as written in the call. */
  readonly written?: string
}

/** What a Bash command would do to files, without running it. Every way that it may take is followed, as far as possible. */
export function interpret(command: string, cwd: string, world: World): CallTargets {
  const effects: Effects = { writes: [], runs: [], opaque: [] }
  if (command.length > maxCommand) {
    effects.opaque.push({ text: command, why: 'it is too long to follow' })
    return effects
  }
  const searches: { readonly roots: readonly string[]; readonly matches: (path: string) => boolean }[] = []
  let steps = 0
  let rounds = 0
  let calls = 0
  let ways = maxWays
  let depth = 0
  let sureOnly = 0
  let substitutions = 0
  const reported = new Set<string>()
  const shell: Shell = {
    world,
    write,
    fill,
    opaque,
    search: (roots, matches) => searches.push({ roots, matches }) - 1,
    given,
    narrow: (index, keep) => {
      const { roots = [], matches = () => true } = searches[index] ?? {}
      return searches.push({ roots, matches: (path) => matches(path) && keep(path) }) - 1
    },
    expand: (word, at) => expandWord(word, at, shell),
    expandWhole: (word, at) => expandWhole(word, at, shell),
    expandPattern: (word, at) => expandPattern(word, at, shell),
    substitute,
    visit: (node, state) => visitSubstitutions(node, state, shell),
    substituteProcess: ({ operator, script }, at) => {
      substitutions += 1
      const path = `/dev/fd/substituted-${substitutions}`
      if (script === undefined) return path
      const outcomes = shell.body(script, at.state)
      const out = outputOf(outcomes)
      if (operator === '<' && out !== null) at.state = withFile(at.state, path, out)
      return path
    },
    run: (words, state) => {
      record(words)
      return within(() => runCommand(words, state, shell), state)
    },
    script: runScript,
    body: (node, state) => within(() => followNode(node, state, shell), state),
    call: (node, state) => {
      if (calls >= maxCalls) return [{ state, ok: null, out: null }]
      calls += 1
      const outcomes = shell.body(node, state)
      calls -= 1
      return outcomes
    },
    word: wordOf,
    few,
    spent: () => {
      steps += 1
      if (steps === maxSteps) opaque('', 'it is too complex to follow')
      return steps > maxSteps
    },
    rounds: (wanted) => {
      const given = Math.min(wanted, maxRounds, Math.max(1, maxAllRounds - rounds))
      rounds += given
      return given
    },
  }
  runScript(command, initialState(cwd))
  return effects

  function runScript(source: string, state: ShellState, how?: 'sure'): readonly CommandOutcome[] {
    if (source.trim() === '') return [{ state, ok: true, out: '' }]
    if (how === 'sure') sureOnly += 1
    const outcomes = within(() => {
      const script = parse(source)
      if (script.errors !== undefined && script.errors.length > 0) opaque(source, 'it is not valid shell')
      return followNode(script, state, shell)
    }, state)
    if (how === 'sure') sureOnly -= 1
    return outcomes
  }

  /** Limits nesting and work. */
  function within(work: () => readonly CommandOutcome[], state: ShellState): readonly CommandOutcome[] {
    if (depth > maxDepth) {
      opaque('', 'it is too complex to follow')
      return [{ state, ok: null, out: null }]
    }
    depth += 1
    const outcomes = work()
    depth -= 1
    return outcomes
  }

  function few(outcomes: readonly CommandOutcome[]): readonly CommandOutcome[] {
    if (outcomes.length <= ways) return outcomes
    opaque('', 'it has too many possible ways to follow')
    // From here on only a few of them are followed.
    ways = 2
    return outcomes.slice(-ways)
  }

  function substitute(script: Parameters<Shell['substitute']>[0], state: ShellState): string {
    if (script === undefined) return unknownPart
    const outcomes = shell.body(script, state)
    const out = outputOf(outcomes)
    return out === null || out.length > maxText ? unknownPart : out.replace(/\n+$/, '')
  }

  function record(words: readonly Arg[]): void {
    if (effects.runs.length < maxRuns)
      effects.runs.push(words.map(({ value }) => (isKnown(value) ? value : null)))
    for (const { value } of words.slice(1)) given(value, words[0]?.value ?? '')
  }

  function given(value: string, program: string): void {
    for (const [, index = ''] of value.matchAll(/\u0001(\d+)\u0001/g)) {
      const search = searches[Number(index)]
      effects.searched ??= []
      if (search !== undefined && effects.searched.length < maxRuns)
        effects.searched.push({ ...search, program })
    }
  }

  function write(
    target: Arg,
    how: string,
    state: ShellState,
    details: Parameters<Shell['write']>[3] = {},
  ): void {
    const { value, text } = target
    if (value === '') return
    const { look, only, entry = false } = details
    const index = searchIndex(value)
    const search = index === null ? undefined : searches[index]
    if (search !== undefined) {
      for (const root of search.roots) {
        if (!isKnown(root)) continue
        // A file where the search begins is found itself.
        if (world.resolve(root).kind === 'file') push({ path: root, how, written: text })
        else push({ path: root, how, entry: true, below: { look: root, only: search.matches } })
      }
      return
    }
    const path = absolutePath(value, state.cwd)
    const descriptor = descriptorOf(path)
    if (descriptor !== null) {
      const file = state.descriptors.get(descriptor)
      if (file !== undefined && isKnown(file) && descriptorOf(file) === null)
        push({ path: file, how, written: text })
      return
    }
    if (!isKnown(path)) {
      opaque('', `${how}, but its name is only known when the command runs`, { shape: path, written: text })
      const plain = withoutUnknownParts(value)
      if (plain !== value && plain !== '' && state.cwd !== null && !plain.endsWith('/'))
        push({ path: absolutePath(plain, state.cwd), how, written: text, entry })
      return
    }
    const below =
      look !== undefined && isKnown(look) ? { below: { look, ...(only === undefined ? {} : { only }) } } : {}
    for (const each of entry ? [path] : leadsTo(path, state))
      push({ path: each, how, written: text, entry, ...below })
  }

  function fill({ value, text }: Arg, how: string, state: ShellState): void {
    effects.into ??= []
    if (effects.into.length < maxWrites)
      for (const path of leadsTo(absolutePath(value, state.cwd), state))
        effects.into.push({ path, how, written: text })
  }

  function push(target: WriteTarget): void {
    if (effects.writes.length < maxWrites) effects.writes.push(target)
    else opaque('', 'it changes too many files to follow')
  }

  function opaque(
    text: string,
    why: string,
    {
      apart = false,
      ...details
    }: { exact?: boolean; apart?: boolean; shape?: string; written?: string } = {},
  ): void {
    if (sureOnly > 0) return
    const isAlone = apart || details.exact === true
    const shown = isAlone ? text : command
    const key = `${details.shape ?? ''}\n${isAlone ? text : ''}\n${why}`
    if (reported.has(key) || reported.size > maxRuns) return
    reported.add(key)
    effects.opaque.push({ text: shown, why, ...details })
    // A text that the command composes may name more than the command itself.
    if (!isAlone && text !== '' && text !== command) effects.opaque.push({ text, why })
  }
}

interface Effects {
  readonly writes: WriteTarget[]
  readonly runs: (readonly (string | null)[])[]
  readonly opaque: OpaquePart[]
  into?: FilledDirectory[]
  searched?: GivenSearch[]
}

function wordOf(text: string): Word | undefined {
  const command = parse(`: ${text}`).commands[0]?.command
  const word = command?.type === 'Command' ? command.args[0] : undefined
  return word?.type === 'Word' ? word : undefined
}

const maxCommand = 262_144
const maxDepth = 40
const maxSteps = 10_000
const maxWays = 12
/** More rounds of a loop show nothing new; nested loops share a limit. */
const maxRounds = 64
const maxAllRounds = 200
/** Depth of function calls: recursion ends here. */
const maxCalls = 6
const maxText = 65_536
const maxRuns = 2000
const maxWrites = 2000
