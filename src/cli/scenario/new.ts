import { Command } from 'commander'
import type { CliContext } from '../context.ts'

const agentAdvice = `
No agent is described yet. Write a gantry.yaml beside it, for example
  agents:
    mine: { driver: command, command: [my-agent, --print, "{prompt}"] }
`

export function newCommand(context: CliContext): Command {
  return new Command('new')
    .description('Create a scenario that runs: a YAML file, a template folder and an oracle to fill in.')
    .argument('<name>', 'name of the scenario')
    .option('--dir <path>', 'where to put it', 'scenarios')
    .option('--target <binary>', 'the tool under test', 'git')
    .action(async (name: string, flags: { readonly dir: string; readonly target: string }) => {
      const { newScenario } = await import('../../scenario/new-scenario.ts')
      const files = newScenario(name, { directory: flags.dir, target: flags.target, cwd: context.cwd })
      for (const file of files) context.stdout.write(`made ${file}\n`)
      context.stdout.write(
        `\nNext: describe the task in it, then prove its gates with\n  gantry scenario check ${files[0]}\n`,
      )
      const { loadProject } = await import('../../config/load.ts')
      const hasAgent = Object.keys(loadProject(context.cwd).config.agents).length > 0
      if (!hasAgent) context.stdout.write(agentAdvice)
    })
}
