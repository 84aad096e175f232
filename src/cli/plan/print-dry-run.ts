import { createColors } from 'picocolors'
import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { estimatePlan, type PlanEstimate } from '../../guard/plan/estimate-plan.ts'
import type { PreparedPlan } from '../../guard/plan/prepare-plan.ts'
import { describeGuard } from '../../guard-install/guard-for-agent.ts'
import { plainLine } from '../../report/plain-text.ts'
import { formatCost } from '../../report/quantity.ts'
import type { Store } from '../../store/contract.ts'
import type { CliContext } from '../context.ts'

/** Shows what would be done. Starts, writes and spends nothing. */
export async function printDryRun(
  prepared: PreparedPlan,
  store: Store,
  { json }: { readonly json: boolean },
  { stdout }: CliContext,
): Promise<void> {
  const { request, tasks, commands, guard, agent, redaction } = prepared
  const estimate = await estimatePlan(prepared, store)
  const guardText = describeGuard(guard, request.agent)
  if (json) {
    const document = {
      dry_run: true,
      root: request.root,
      plan: request.plan,
      agent: request.agent,
      driver: agent.driver.name,
      agent_version: agent.probe.version,
      model: request.model,
      tasks: tasks.map(({ title, line, done }) => ({ title, line, done })),
      commands,
      guard: { state: guard.kind, text: guardText },
      estimate: {
        open: estimate.open,
        learned_from: estimate.learnedFrom,
        cost_usd: estimate.costUsd,
        duration_ms: estimate.durationMs,
      },
    }
    return stdout.write(`${JSON.stringify(redaction.value(document), null, 2)}\n`)
  }
  const { bold, dim, yellow } = createColors(stdout.color)
  const say = (text: string): string => plainLine(redaction.text(text))
  stdout.write(bold(`${say(request.plan)}: ${estimate.open} of ${counted(tasks.length, 'task')} open\n`))
  for (const { title, done } of tasks)
    stdout.write(`  ${done ? dim(`[x] ${say(title)}`) : `[ ] ${say(title)}`}\n`)
  const row = (label: string, text: string): void => stdout.write(`${dim(label.padEnd(12))} ${text}\n`)
  row(
    'agent',
    `${say(request.agent)} (${agent.driver.name} ${agent.probe.version ?? ''}), model ${say(request.model)}`,
  )
  if (commands.length === 0)
    row('verified by', yellow('nothing: tasks only count as done once a verification command is declared'))
  for (const { command, source } of commands) row('verified by', `${say(command)} ${dim(`(${say(source)})`)}`)
  row('guard', guard.kind === 'none' ? yellow(say(guardText)) : say(guardText))
  row('bounds', boundsLine(prepared))
  row('estimate', estimateLine(estimate))
}

function boundsLine({
  request: { maxAttempts, maxIterations, maxCostUsd, timeoutMs },
}: PreparedPlan): string {
  return [
    `${counted(maxAttempts, 'attempt')} per task`,
    ...(maxIterations === undefined || maxIterations === 0
      ? []
      : [`${counted(maxIterations, 'iteration')} in all`]),
    ...(maxCostUsd === undefined ? [] : [`${formatCost(maxCostUsd)} in all`]),
    `${formatDuration(timeoutMs)} per iteration`,
  ].join(', ')
}

function estimateLine({ learnedFrom, costUsd, durationMs }: PlanEstimate): string {
  if (learnedFrom === 0 || durationMs === null) return 'unknown: no earlier run with this agent and model'
  const cost = costUsd === null ? 'cost unknown' : `about ${formatCost(costUsd)}`
  return `${cost}, about ${formatDuration(durationMs)}, based on ${counted(learnedFrom, 'task')} of earlier runs`
}
