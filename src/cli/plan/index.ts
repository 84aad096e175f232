import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { count, duration, usd, wholeNumber } from '../flag-values.ts'
import type { PlanFlags } from './run-plan.ts'

/** `gantry plan`: works through a plan with an agent, verifying each task before it counts. */
export function planCommand(context: CliContext): Command {
  const command = new Command('plan')
  command.addCommand(planRunCommand(context))
  return command
}

function planRunCommand(context: CliContext): Command {
  return new Command('run')
    .description('Let a guarded agent do the open tasks of a plan, with a fresh context for each attempt.')
    .argument('[plan]', 'the plan (default: IMPLEMENTATION_PLAN.md at the top of the project)')
    .optionsGroup('Agents and models:')
    .option('-a, --agent <name>', 'an agent of gantry.yaml, the name of a driver, or scripted:PATH')
    .option('-m, --model <name>', 'the model of the agent (default: its own choice)')
    .option('--config <file>', 'configuration file instead of the gantry.yaml found upward')
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .optionsGroup('Limits:')
    .option(
      '--max-iterations <n>',
      'agents started in total (default, and 0: limited by the attempts only)',
      wholeNumber,
    )
    .option('--max-attempts <n>', 'attempts at one task before the run ends (default: 3)', count)
    .option('--max-cost-usd <usd>', 'stop when all iterations together have cost this much', usd)
    .option('--timeout <duration>', 'time limit of the agent in one iteration (default: 30m)', duration)
    .option('--resume <run>', 'continue a run that was stopped; earlier attempts count')
    .optionsGroup('Output:')
    .option('--commit', 'one commit per verified task; needs a clean tree, pushes nothing')
    .option('--dry-run', 'show tasks, commands, agent, guard and estimate without starting anything')
    .option('--json', 'print one JSON event per line and nothing else on standard output')
    .addHelpText(
      'after',
      `
After every attempt Gantry itself runs the verification commands of the project. Only when all are green and files have
changed is the task's box ticked, by Gantry. Claims and ticks of the agent do not count.
The agent works in the real tree, with your HOME unless gantry.yaml says 'home: isolated' for it. Variables of yours that it and the
commands need go into 'inherit_env'. If the guard is not installed, it is added to the agent's hooks during the run.

Exit codes: 0 all tasks done · 1 a task was given up · 2 bad usage · 3 infrastructure · 4 a limit was reached with tasks open · 130 interrupted`,
    )
    .action(async (plan: string | undefined, flags: PlanFlags) => {
      const { runPlanCommand } = await import('./run-plan.ts')
      await runPlanCommand(plan, flags, context)
    })
}
