import type {
  AndOr,
  Case,
  Command,
  For,
  If,
  Pipeline,
  Redirection,
  Select,
  Statement,
  SyntaxNode,
  While,
  Word,
} from 'unbash'
import { forEachChild } from 'unbash'
import { closeRedirects, openRedirects } from './redirects.ts'
import { runSimpleCommand } from './run-simple-command.ts'
import type { CommandOutcome, Cursor, Shell, ShellState } from './shell-state.ts'
import { distinct, leaveSubshell, onlyStates, outputOf, withVariable } from './state.ts'
import { unknownPart } from './unknown-part.ts'

/** Every path a piece of shell code may take, from one state. */
export function followNode(node: SyntaxNode, state: ShellState, shell: Shell): readonly CommandOutcome[] {
  if (state.ended || shell.spent()) return [done(state, null)]
  switch (node.type) {
    case 'Script':
    case 'CompoundList':
      return sequence(node.commands, state, shell)
    case 'Statement': {
      const outcomes = followNode(node.command, state, shell)
      return node.background === true
        ? outcomes.map((outcome) => done(leaveSubshell(state, outcome.state)))
        : outcomes
    }
    case 'AndOr':
      return chain(node, state, shell)
    case 'Pipeline':
      return pipeline(node, state, shell)
    case 'Command':
      return runSimpleCommand(node satisfies Command, state, shell)
    case 'Redirected':
      return redirected(node.command, node.redirects, state, shell)
    case 'Subshell':
      return followNode(node.body, state, shell).map((outcome) => ({
        ...outcome,
        state: leaveSubshell(state, outcome.state),
      }))
    case 'BraceGroup':
      return followNode(node.body, state, shell)
    case 'Coproc':
      return followNode(node.body, state, shell).map((outcome) => done(leaveSubshell(state, outcome.state)))
    case 'Function':
      return [done({ ...state, functions: new Map(state.functions).set(node.name.value, node.body) })]
    case 'If':
      return branches(node, state, shell)
    case 'For':
    case 'Select':
      return each(node, state, shell)
    case 'While':
      return loop(node, state, shell)
    case 'ArithmeticFor':
      return [done(state), ...followNode(node.body, state, shell)]
    case 'Case':
      return choices(node, state, shell)
    default:
      visitSubstitutions(node, state, shell)
      return [done(state, null)]
  }
}

function done(state: ShellState, ok: boolean | null = true): CommandOutcome {
  return { state, ok, out: '' }
}

function sequence(
  statements: readonly Statement[],
  state: ShellState,
  shell: Shell,
): readonly CommandOutcome[] {
  let outcomes: readonly CommandOutcome[] = [done(state)]
  for (const statement of statements)
    outcomes = shell.few(
      distinct(
        onlyStates(outcomes).flatMap(({ state: from, out }) =>
          followNode(statement, from, shell).map((next) => ({ ...next, out: joined(out, next.out) })),
        ),
      ),
    )
  return outcomes
}

function joined(first: string | null, second: string | null): string | null {
  return first === null || second === null ? null : first + second
}

function chain({ commands, operators }: AndOr, state: ShellState, shell: Shell): readonly CommandOutcome[] {
  const [first, ...rest] = commands
  if (first === undefined) return [done(state)]
  let outcomes = followNode(first, state, shell)
  for (const [index, command] of rest.entries()) {
    const wanted = operators[index] === '&&'
    outcomes = shell.few(
      distinct(
        outcomes.flatMap((outcome): readonly CommandOutcome[] => {
          const skipped = { ...outcome, ok: !wanted }
          if (outcome.ok === !wanted || outcome.state.ended) return [skipped]
          const taken = followNode(command, outcome.state, shell).map((next) => ({
            ...next,
            out: joined(outcome.out, next.out),
          }))
          return outcome.ok === wanted ? taken : [...taken, skipped]
        }),
      ),
    )
  }
  return outcomes
}

function pipeline(
  { commands, prefixes }: Pipeline,
  state: ShellState,
  shell: Shell,
): readonly CommandOutcome[] {
  const negated = prefixes.some(({ type }) => type === 'Negation')
  if (commands.length === 1 && commands[0] !== undefined)
    return followNode(commands[0], state, shell).map((outcome) => ({
      ...outcome,
      ok: negated && outcome.ok !== null ? !outcome.ok : outcome.ok,
    }))
  let inside = state
  let outcomes: readonly CommandOutcome[] = [done(state)]
  for (const [index, command] of commands.entries()) {
    const stdin = index === 0 ? state.stdin : outputOf(outcomes)
    outcomes = followNode(command, { ...inside, stdin }, shell)
    for (const outcome of outcomes) inside = leaveSubshell(inside, outcome.state)
  }
  // Some shells run the last command in place: what it reads into variables stays.
  return distinct(
    outcomes.flatMap((outcome) => [
      { state: inside, ok: null, out: outcome.out },
      { state: { ...outcome.state, stdin: state.stdin, ended: false }, ok: null, out: outcome.out },
    ]),
  )
}

function redirected(
  command: SyntaxNode,
  redirects: readonly Redirection[],
  state: ShellState,
  shell: Shell,
): readonly CommandOutcome[] {
  const at: Cursor = { state }
  const opened = openRedirects(redirects, at, shell)
  return followNode(command, at.state, shell).map((outcome) => {
    const closed = closeRedirects(opened, outcome, shell)
    return { ...closed, state: { ...closed.state, stdin: state.stdin, descriptors: state.descriptors } }
  })
}

function branches(node: If, state: ShellState, shell: Shell): readonly CommandOutcome[] {
  let open = onlyStates(followNode(node.clause, state, shell))
  const closed: CommandOutcome[] = open.flatMap((outcome) => followNode(node.then, outcome.state, shell))
  for (const { clause, then } of node.elif) {
    open = onlyStates(open.flatMap((outcome) => followNode(clause, outcome.state, shell)))
    closed.push(...open.flatMap((outcome) => followNode(then, outcome.state, shell)))
  }
  const otherwise = node.else
  closed.push(
    ...(otherwise === undefined
      ? open.map((outcome) => done(outcome.state))
      : open.flatMap((outcome) => followNode(otherwise, outcome.state, shell))),
  )
  return shell.few(distinct(closed))
}

function each(
  { name, wordlist, body }: For | Select,
  state: ShellState,
  shell: Shell,
): readonly CommandOutcome[] {
  const at: Cursor = { state }
  const words =
    wordlist === undefined
      ? state.parameters
      : wordlist.flatMap((word) => shell.expand(word, at).map(({ value }) => value))
  let outcomes: readonly CommandOutcome[] = [done(at.state)]
  const rounds = shell.rounds(words.length)
  for (const word of words.length > rounds ? [...words.slice(0, rounds), unknownPart] : words)
    outcomes = shell.few(
      onlyStates(
        outcomes.flatMap((outcome) => followNode(body, withVariable(outcome.state, name.value, word), shell)),
      ),
    )
  return outcomes.map(({ state: after }) => ({ state: after, ok: null, out: null }))
}

function loop({ clause, body }: While, state: ShellState, shell: Shell): readonly CommandOutcome[] {
  const all: CommandOutcome[] = []
  let current: readonly CommandOutcome[] = [done(state)]
  for (let round = 0; current.length > 0; round += 1) {
    const tested = current.flatMap((outcome) => followNode(clause, outcome.state, shell))
    all.push(...tested.filter(({ ok }) => ok !== true))
    const next = tested
      .filter(({ ok }) => ok !== false)
      .flatMap((outcome) => followNode(body, outcome.state, shell))
    current = shell.few(distinct(next))
    // Two rounds show the effect of one on the next. While lines are read, each round differs.
    const reads = current.some(({ state: { stdin } }) => stdin !== null && stdin !== '')
    if (round > 0 && (!reads || round > 64 || shell.rounds(2) < 2)) break
  }
  return shell.few(
    distinct([...all, ...current].map(({ state: after }) => ({ state: after, ok: null, out: null }))),
  )
}

function choices({ word, items }: Case, state: ShellState, shell: Shell): readonly CommandOutcome[] {
  visitSubstitutions(word, state, shell)
  const taken = items.flatMap((item) => {
    for (const pattern of item.pattern) visitSubstitutions(pattern, state, shell)
    return followNode(item.body, state, shell)
  })
  return shell.few(distinct([done(state), ...taken]))
}

/** Commands inside tests, arithmetic and patterns run too. */
export function visitSubstitutions(node: SyntaxNode, state: ShellState, shell: Shell): void {
  if ('script' in node && node.script !== undefined) {
    shell.body(node.script, state)
    return
  }
  forEachChild(node, (child: SyntaxNode | Word) => visitSubstitutions(child, state, shell))
}
