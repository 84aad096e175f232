import type { Command } from 'commander'
import { createProgram } from '../src/cli/program.ts'

/** docs/cli.md: every command with its arguments and options, from the commands themselves. */
export async function cliReference(): Promise<string> {
  const silent = { write: () => {}, isTTY: false, columns: 100, color: false }
  const program = await createProgram({
    cwd: '.',
    env: {},
    stdout: silent,
    stderr: silent,
    signal: new AbortController().signal,
    setExitCode: () => {},
  })
  const sections = leaves(program).map(({ path, command }) => section(path, command))
  return `# Command reference

Generated from the commands by \`npm run generate\`; do not edit.

| exit code | meaning |
|---|---|
| 0 | pass |
| 1 | checks failed |
| 2 | bad usage or input |
| 3 | infrastructure |
| 4 | inconclusive or partial, with \`--strict\` |
| 130 | interrupted |

${sections.join('\n\n')}
`
}

function leaves(
  command: Command,
  path = command.name(),
): { readonly path: string; readonly command: Command }[] {
  if (command.commands.length === 0) return [{ path, command }]
  return command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`))
}

function section(path: string, command: Command): string {
  const help = command.createHelp()
  const rows = [
    ...help
      .visibleArguments(command)
      .map((argument) => [`\`${help.argumentTerm(argument)}\``, help.argumentDescription(argument)]),
    ...help
      .visibleOptions(command)
      .map((option) => [`\`${help.optionTerm(option)}\``, help.optionDescription(option)]),
  ]
  const table = rows.map(([term, text]) => `| ${cell(term ?? '')} | ${cell(text ?? '')} |`)
  return [
    `## ${path}`,
    command.description(),
    `\`${path} ${command.usage()}\``,
    ['| | |', '|---|---|', ...table].join('\n'),
  ].join('\n\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
