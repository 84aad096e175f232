import type { Assignment, Command, Redirection, Script, Statement, SyntaxNode, Word } from 'unbash'
import type { Invocation } from './contract.ts'
import { chainOutcome, type ShellOutcome, someFailure, unknownOutcome } from './shell-outcome.ts'
import type { CommandWord, Recognised } from './target.ts'
import { type Unwrapped, unwrapCommand } from './unwrap-command.ts'

export interface ShellReading {
  /** Is this the target? Layers come from the outside in: `timeout 5 tool a`, then `tool a`. `input` is what `<` gives it. */
  recognise(layers: readonly (readonly CommandWord[])[], input: string): Recognised | null
  /** The target is found by the text of a command, not by its program. */
  readonly byText: boolean
  /** For a source that is no valid shell. */
  readLines(source: string, outcome: ShellOutcome): Invocation[]
  parse(source: string): Script & { readonly errors?: readonly unknown[] | undefined }
  forEachChild(node: SyntaxNode, visit: (child: SyntaxNode) => void): void
}

/**
 * Invocations in a command line in the order they are written, each with what the line's end says about its own end. Never more
 * is claimed than is certain, with one exception that is marked approximate: a failing `&&` chain is blamed on its last
 * invocation.
 */
export function shellInvocations(
  source: string,
  whole: ShellOutcome,
  reading: ShellReading,
  depth = 0,
): Invocation[] {
  const script = reading.parse(source)
  if (script.errors !== undefined && script.errors.length > 0) return reading.readLines(source, whole)
  const pipefail = /\bpipefail\b/.test(source)
  const variables = new Map<string, string>()
  return statements(script.commands, whole)

  function walk(node: SyntaxNode, outcome: ShellOutcome): Invocation[] {
    switch (node.type) {
      case 'Script':
      case 'CompoundList':
        return statements(node.commands, outcome)
      case 'Statement':
        return walk(node.command, node.background === true ? unknownOutcome : outcome)
      case 'AndOr': {
        const { outcomes, blame } = chainOutcome(node.operators, outcome)
        const found = node.commands.map((command, index) => walk(command, outcomes[index] ?? unknownOutcome))
        if (blame === null) return found.flat()
        return [...blamed(found.slice(0, blame.count).flat(), blame.code), ...found.slice(blame.count).flat()]
      }
      case 'Pipeline': {
        const negated = node.prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1
        const own = negated ? opposite(outcome) : outcome
        return pipeline(node.commands, own)
      }
      case 'Subshell':
      case 'BraceGroup':
        return walk(node.body, outcome)
      case 'Redirected':
        return [...below(node.redirects), ...walk(node.command, outcome)]
      case 'Command':
        return command(node, outcome)
      default: {
        const children: SyntaxNode[] = []
        reading.forEachChild(node, (child) => children.push(child))
        return below(children)
      }
    }
  }

  function statements(list: readonly Statement[], outcome: ShellOutcome): Invocation[] {
    return list.flatMap((statement, index) =>
      walk(statement, index === list.length - 1 ? outcome : unknownOutcome),
    )
  }

  function pipeline(commands: readonly SyntaxNode[], outcome: ShellOutcome): Invocation[] {
    if (!pipefail || outcome.code === null || commands.length === 1)
      return commands.flatMap((each, index) =>
        walk(each, index === commands.length - 1 ? outcome : unknownOutcome),
      )
    if (outcome.code === 0) return commands.flatMap((each) => walk(each, outcome))
    return blamed(below(commands), outcome.code)
  }

  /** Commands inside words, loops and branches: whether and how they ended cannot be told. */
  function below(nodes: readonly SyntaxNode[]): Invocation[] {
    return nodes.flatMap((node) => walk(node, unknownOutcome))
  }

  function command(node: Command, outcome: ShellOutcome): Invocation[] {
    if (node.name === undefined) return assignments(node, outcome)
    const words = [...expanded(node.name), ...node.args.map(wordOf)]
    const { found, script, own } = simple(words, node.redirects, outcome)
    // A script that is run has its substitutions in it: they are found there, not a second time in the words.
    if (script !== null)
      return depth >= maxDepth
        ? []
        : [...below(node.prefix), ...shellInvocations(script, own, reading, depth + 1)]
    return [...below([...node.prefix, node.name, ...node.suffix]), ...found]
  }

  /** `X=$(tool get)` ends as the tool does. */
  function assignments(node: Command, outcome: ShellOutcome): Invocation[] {
    for (const each of node.prefix) if (each.type === 'Assignment') remember(each)
    const last = node.prefix.at(-1)
    const value = last?.type === 'Assignment' && last.value.type === 'Word' ? last.value : undefined
    const [only, ...more] = value?.parts ?? []
    if (only?.type !== 'CommandExpansion' || only.script === undefined || more.length > 0)
      return below(node.prefix)
    return [...below(node.prefix.slice(0, -1)), ...walk(only.script, outcome)]
  }

  function remember({ name, value, append, index }: Assignment): void {
    const plain = value.type === 'Word' && (value.parts ?? []).every(({ type }) => plainParts.has(type))
    if (plain && append !== true && index === undefined) variables.set(name, value.value)
    else variables.delete(name)
  }

  function expanded(name: Word): CommandWord[] {
    const variable = /^"?\$(?:(\w+)|\{(\w+)\})"?$/.exec(name.text)
    const value = variables.get(variable?.[1] ?? variable?.[2] ?? '')
    if (value === undefined) return [wordOf(name)]
    return value
      .split(/\s+/)
      .filter((part) => part !== '')
      .map((part) => ({ text: part, value: part }))
  }

  function simple(
    words: readonly CommandWord[],
    redirects: readonly Redirection[],
    outcome: ShellOutcome,
  ): { readonly found: Invocation[]; readonly script: string | null; readonly own: ShellOutcome } {
    const layers = [words]
    let own = outcome
    let last: Unwrapped | null = unwrapCommand(words)
    while (last?.kind === 'command' && layers.length < maxLayers) {
      layers.push(last.words)
      if (last.exit === 'none') own = unknownOutcome
      if (last.exit === 'similar' && own.code !== null && own.code !== 0) own = someFailure
      last = unwrapCommand(last.words)
    }
    const script =
      last?.kind === 'script' ? last.source : last?.kind === 'nothing' ? heredoc(redirects) : null
    // The text of a wrapped script contains the commands that are found inside it.
    const target = script !== null && reading.byText ? null : reading.recognise(layers, inputOf(redirects))
    if (target === null) return { found: [], script, own }
    const found = [{ ...target, exitCode: own.code, approximate: own.approximate }]
    return { found, script: null, own }
  }
}

const maxDepth = 8

const maxLayers = 16

const plainParts = new Set(['Literal', 'SingleQuoted', 'AnsiCQuoted'])

function wordOf({ text, value }: Word | Assignment): CommandWord {
  return { text, value: typeof value === 'string' ? value : text }
}

/** What a command reads is part of what it is asked to do; where its output goes is not. */
function inputOf(redirects: readonly Redirection[]): string {
  return redirects.map(inputText).join('')
}

function inputText(redirect: Redirection): string {
  switch (redirect.type) {
    case 'HereDoc':
      return ` ${redirect.operator}${redirect.delimiter?.text ?? ''} ${redirect.body.text}`
    case 'HereString':
      return ` <<< ${redirect.target?.text ?? ''}`
    case 'Redirect':
      return redirect.operator === '<' ? ` < ${redirect.target?.text ?? ''}` : ''
  }
}

/** `bash <<EOF` runs what stands in the document. */
function heredoc(redirects: readonly Redirection[]): string | null {
  const document = redirects.find((redirect) => redirect.type === 'HereDoc')
  return document === undefined ? null : document.body.text
}

function opposite({ code, approximate }: ShellOutcome): ShellOutcome {
  if (code === null) return unknownOutcome
  return code === 0 ? someFailure : { code: 0, approximate }
}

function blamed(found: readonly Invocation[], code: number): Invocation[] {
  const last = found.at(-1)
  return last === undefined ? [] : [...found.slice(0, -1), { ...last, exitCode: code, approximate: true }]
}
