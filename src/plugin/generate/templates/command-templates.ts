import type { CommandComponent } from '../../analyze/contract.ts'
import type { TemplateScenarios, UnnamedScenario } from '../component-record.ts'
import { workspaceFiles } from './workspace-files.ts'

/** The command typed plainly, with arguments and with files; and a request in words, for which it must not fire. */
export function commandTemplates(command: CommandComponent): TemplateScenarios {
  const { name, invocation, argument_hint: hint } = command
  const facts = {
    component_ref: name,
    expected_component: name,
    component_type: 'command' as const,
    origin: 'template' as const,
  }
  const typed = (suffix: string, args: readonly string[], reasoning: string): UnnamedScenario => ({
    ...facts,
    suffix,
    scenario_type: 'direct',
    user_prompt: [invocation, ...args].join(' '),
    expected_trigger: true,
    reasoning,
  })
  const withFiles = (suffix: string, paths: readonly string[]): UnnamedScenario => ({
    ...typed(
      suffix,
      paths.map((path) => `@${path}`),
      `The command as it is typed, with ${paths.length === 1 ? 'a file' : 'files'} it refers to.`,
    ),
    expected_file_references: paths,
    files: workspaceFiles(paths),
  })
  const hinted = hint === null || hint.trim() === '' ? null : hintValues(hint)
  return {
    scenarios: [
      typed('basic', [], 'The command as it is typed.'),
      typed('with-args', ['test-value'], 'The command as it is typed, with one argument.'),
      withFiles('file-ref', ['README.md']),
      withFiles('multi-file-ref', ['README.md', 'src/index.ts']),
      { ...facts, ...quiet(command), scenario_type: 'negative', expected_trigger: false },
      ...(hinted?.kind === 'values'
        ? [
            {
              ...typed('with-hint-args', hinted.values, 'The command with arguments as its hint asks for.'),
              files: workspaceFiles(['test-file.ts', 'src/index.ts']),
            },
          ]
        : []),
    ],
    ...(hinted?.kind === 'refused' && { warnings: [`command ${name}: ${hinted.reason}`] }),
  }
}

function quiet({
  name,
  disable_model_invocation,
}: CommandComponent): Pick<UnnamedScenario, 'suffix' | 'user_prompt' | 'reasoning'> {
  return disable_model_invocation
    ? {
        suffix: 'model-invocation-blocked',
        user_prompt: `Please start the ${name} command yourself and tell me what it says.`,
        reasoning: 'The command says that a model cannot invoke it.',
      }
    : {
        suffix: 'negative',
        user_prompt: `Could you run the ${name} command?`,
        reasoning: 'A command is started by typing it, not by asking for it.',
      }
}

type HintValues =
  | { readonly kind: 'values'; readonly values: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string }

const maxHint = 1_000

/** One value for each `[x]` and `<x>` of an argument hint; a hint without brackets is one argument. */
export function hintValues(hint: string): HintValues {
  if (hint.length > maxHint)
    return { kind: 'refused', reason: `its argument hint is longer than ${maxHint} characters` }
  const inBrackets = [...hint.matchAll(/\[([^[\]]*)\]|<([^<>]*)>/g)].map(
    ([, square, angle]) => square ?? angle ?? '',
  )
  const words = inBrackets.length > 0 ? inBrackets : [hint]
  return { kind: 'values', values: words.filter((word) => word.trim() !== '').map(valueFor) }
}

/** The first row one of whose words is in the hint decides. */
const table: readonly (readonly [readonly string[], string])[] = [
  [['file', 'files', 'filename', 'filepath'], 'test-file.ts'],
  [['dir', 'dirs', 'directory', 'folder', 'path', 'paths'], './src'],
  [['option', 'options', 'flag', 'flags'], '--verbose'],
  [['url', 'urls', 'link', 'uri'], 'https://example.com'],
  [['name', 'names', 'username', 'title'], 'test-name'],
  [['id', 'ids', 'identifier'], '123'],
  [['number', 'count', 'num', 'limit', 'amount'], '42'],
]

/** A flag, or the first of several choices, is used literally. */
function valueFor(hint: string): string {
  const words = hint
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  const row = table.find(([known]) => known.some((word) => words.includes(word)))
  if (row !== undefined) return row[1]
  const flag = /(?:^|\s)(--?[A-Za-z][\w-]*)/.exec(hint)?.[1]
  if (flag !== undefined) return flag
  const choice = /^\s*([\w-]+)\s*\|/.exec(hint)?.[1]
  return choice ?? 'test-value'
}
