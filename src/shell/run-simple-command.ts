import type { Assignment, Command, Word } from 'unbash'
import { runHidden, runIndexes } from './expand-parameter.ts'
import { closeRedirects, openRedirects } from './redirects.ts'
import type { Arg, CommandOutcome, Cursor, Shell, ShellState, ShellValue } from './shell-state.ts'
import { withVariable } from './state.ts'

/** A command with its assignments, words and redirections. */
export function runSimpleCommand(node: Command, state: ShellState, shell: Shell): readonly CommandOutcome[] {
  const at: Cursor = { state }
  const words: Arg[] = node.name === undefined ? [] : [...shell.expand(node.name, at)]
  let end = -1
  for (const arg of node.args) {
    const isRest = arg.pos === end
    end = arg.end
    if (arg.type === 'Word') words.push(...(isRest ? joined(words.pop(), arg) : shell.expand(arg, at)))
    else if (arg.value.type === 'ArrayValue') at.state = assign(arg, at, shell)
    else words.push({ value: `${arg.name}=${shell.expandWhole(arg.value, at)}`, text: arg.text })
  }
  const before = at.state
  for (const each of node.prefix) if (each.type === 'Assignment') at.state = assign(each, at, shell)
  const assigned = at.state
  const opened = openRedirects(node.redirects, at, shell)
  forced(node, at, shell)
  if (words.length === 0) {
    runSettings(node, assigned, shell)
    // Redirections of `exec` alone and of an assignment: only the first ones stay.
    return [
      closeRedirects(
        opened,
        { state: { ...at.state, stdin: state.stdin }, ok: true, out: printed(node, at.state) },
        shell,
      ),
    ]
  }
  runSettings(node, assigned, shell)
  const keeps = words.length === 1 && words[0]?.value === 'exec'
  return shell.run(words, at.state).map((outcome) => {
    const closed = closeRedirects(opened, outcome, shell)
    if (keeps) return { ...closed, state: at.state }
    const variables = assigned === before ? closed.state.variables : withoutPrefix(closed.state, before)
    const redirectedInput = node.redirects.length > 0
    return {
      ...closed,
      state: {
        ...closed.state,
        variables,
        descriptors: state.descriptors,
        stdin: redirectedInput ? state.stdin : closed.state.stdin,
        lastWord: words.at(-1)?.value ?? '',
      },
    }
  })

  /** `--file=<(…)` is one word, which the parser gives as two. */
  function joined(first: Arg | undefined, rest: Word): readonly Arg[] {
    const value = `${first?.value ?? ''}${shell.expandWhole(rest, at)}`
    return [{ value, text: `${first?.text ?? ''}${rest.text}` }]
  }

  /** `IFS= read x`: what the command sets stays, what is set for it alone goes. */
  function withoutPrefix(after: ShellState, before: ShellState): ShellState['variables'] {
    const names = node.prefix.flatMap((each) => (each.type === 'Assignment' ? [each.name] : []))
    const variables = new Map(after.variables)
    for (const name of names) {
      const value = before.variables.get(name)
      if (value === undefined) variables.delete(name)
      else variables.set(name, value)
    }
    return variables
  }
}

/** `$(< file)` gives what is in the file. */
function printed(node: Command, { stdin }: ShellState): string | null {
  const reads = node.redirects.some((each) => each.type === 'Redirect' && each.operator === '<')
  return reads ? stdin : ''
}

function assign({ name, value, append, index }: Assignment, at: Cursor, shell: Shell): ShellState {
  const old = at.state.variables.get(name)
  const given: ShellValue =
    value.type === 'ArrayValue'
      ? value.elements.flatMap((word) => listElement(word, at, shell))
      : shell.expandWhole(value, at)
  if (typeof given === 'string') runIndexes(given, at.state, shell)
  if (index !== undefined && typeof given === 'string')
    return withVariable(at.state, name, [...(Array.isArray(old) ? old : []), given])
  if (append !== true || old === undefined) return withVariable(at.state, name, given)
  if (typeof old === 'string' && typeof given === 'string') return withVariable(at.state, name, old + given)
  return withVariable(at.state, name, [old, given].flat())
}

function listElement(word: Word, at: Cursor, shell: Shell): readonly string[] {
  return shell.expand(word, at).map(({ value }) => value.replace(/^\[[^\]]*\]=/, ''))
}

/** In zsh `>!` overwrites a file regardless of the options. */
function forced(node: Command, at: Cursor, shell: Shell): void {
  for (const [index, part] of node.suffix.entries()) {
    const next = node.suffix[index + 1]
    if (part.type === 'Redirect' && part.target?.text === '!' && next?.type === 'Word')
      for (const arg of shell.expand(next, at)) shell.write(arg, 'redirects to it', at.state)
  }
}

/** Some variables are commands other programs run. */
function runSettings(node: Command, state: ShellState, shell: Shell): void {
  for (const each of node.prefix) {
    if (
      each.type !== 'Assignment' ||
      !/EDITOR$|PAGER$|^GIT_\w*(?:COMMAND|SSH|ASKPASS|DIFF)$|^(?:BROWSER|VISUAL|PROMPT_COMMAND|LESSOPEN|PS[0124])$/.test(
        each.name,
      )
    )
      continue
    const value = state.variables.get(each.name)
    if (typeof value !== 'string') continue
    if (/^PS\d$/.test(each.name)) runHidden(value, state, shell)
    else shell.script(value.replace(/^\|/, ''), state)
  }
}
