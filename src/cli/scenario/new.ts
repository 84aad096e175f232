import { Command } from 'commander'
import { GantryError } from '../../core/error.ts'
import type { CliContext } from '../context.ts'

const example = `  agents:
    mine: { driver: command, command: [my-agent, --print, "{prompt}"] }
`

export function newCommand(context: CliContext): Command {
  return new Command('new')
    .description('Create a scenario that runs: a YAML file, a template folder and an oracle to fill in.')
    .argument('<name>', 'name of the scenario')
    .option('--dir <path>', 'where to put it', 'scenarios')
    .option('--target <binary>', 'the tool under test', 'git')
    .action(async (name: string, flags: { readonly dir: string; readonly target: string }) => {
      if (name.trim() === '') throw new GantryError('USAGE', 'the name of the scenario is empty')
      const { newScenario } = await import('../../scenario/new-scenario.ts')
      const files = newScenario(name, { directory: flags.dir, target: flags.target, cwd: context.cwd })
      for (const file of files) context.stdout.write(`Created ${file}\n`)
      context.stdout.write(
        `\nNext: describe the task in it, then check its gates with\n  gantry scenario check ${files[0]}\n`,
      )
      const { loadProject } = await import('../../config/load.ts')
      const { config, source } = loadProject(context.cwd)
      if (Object.keys(config.agents).length > 0) return
      const where = source === null ? 'Write a gantry.yaml beside it' : `Describe one in ${source.path}`
      context.stdout.write(`\nNo agent is described yet. ${where}, for example\n${example}`)
    })
}
