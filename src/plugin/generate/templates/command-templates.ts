import type { CommandComponent } from '../../analyze/contract.ts'
import type { UnnamedScenario } from '../component-record.ts'
import { hintValues } from './hint-values.ts'
import type { Templates } from './template.ts'
import { workspaceFiles } from './workspace-files.ts'

/** A command as it is typed, with arguments and with files; and asked for in words, when it should stay quiet. */
export function commandTemplates(command: CommandComponent): Templates {
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
