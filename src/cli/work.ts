import { hostname } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { version } from '../core/version.ts'
import type { CliContext } from './context.ts'
import { count, list } from './flag-values.ts'
import { blobsOption, type QueueFlags, queueOption, withQueue } from './queue.ts'

interface WorkFlags extends QueueFlags {
  readonly concurrency: number
  readonly only?: string[]
  readonly label?: string[]
  readonly untilEmpty?: boolean
}

export function workCommand(context: CliContext): Command {
  return new Command('work')
    .addOption(queueOption())
    .addOption(blobsOption())
    .option('-j, --concurrency <n>', 'trials at a time', count, 2)
    .option('--only <agent=name>', 'only trials of these agents; repeatable', list)
    .option('--label <label>', 'what this machine has besides agents, for example gpu; repeatable', list)
    .option('--until-empty', 'end when nothing waits')
    .action(async (flags: WorkFlags) => {
      const { workQueue } = await import('../scenario/work-queue.ts')
      const { workerScratch } = await import('../scenario/worker-scratch.ts')
      const { newUuid } = await import('../io/ids.ts')
      const { describeHost } = await import('../io/host.ts')
      const onlyAgents = (flags.only ?? []).map(agentOf)
      const host = hostname()
      const { trials } = await withQueue(
        flags,
        context,
        async (queue) => {
          using scratch = workerScratch()
          const { agents, engines } = await abilities(context, join(scratch.path, 'probe'))
          return await workQueue({
            queue,
            root: scratch.path,
            worker: {
              id: `${host}-${newUuid().slice(0, 8)}`,
              host,
              slots: flags.concurrency,
              gantry: version,
              labels: [...(flags.label ?? []), ...engines],
              memoryMb: Math.floor(describeHost().memoryBytes / 2 ** 20),
              agents,
              onlyAgents,
            },
            openTask: async (queued, root, signal) => {
              const { openQueuedTask } = await import('../task/worker/queued-task.ts')
              return openQueuedTask(queued, { queue, env: context.env, root, signal })
            },
            untilEmpty: flags.untilEmpty === true,
            env: context.env,
            signal: context.signal,
            note: (message) => context.stderr.write(`${message}\n`),
          })
        },
        true,
      )
      context.stdout.write(`Worked on ${counted(trials, 'trial')}.\n`)
    })
}

/** The agents that need no configuration and the sandboxes of this machine. Other agents are found when a run needs them. */
async function abilities({ env, signal }: CliContext, home: string) {
  const { bareAgents, createAgent } = await import('../agents/index.ts')
  const { definedVariables } = await import('../core/expand.ts')
  const { hermeticEnv } = await import('../io/hermetic-env.ts')
  const { makeDirectories } = await import('../io/directory.ts')
  const { probeEngines, sandboxEngines } = await import('../sandboxes/index.ts')
  const own = definedVariables(env)
  // Programs write into their HOME even when only asked for their version.
  makeDirectories(home)
  const aside = { ...own, ...hermeticEnv({ host: {}, home, tmp: home }) }
  const probing = Object.entries(bareAgents()).map(async ([name, config]) => {
    const { found, version: has } = await createAgent(name, config, { base: home }).probe({
      env: aside,
      signal,
    })
    return found ? [[name, has] as const] : []
  })
  const probes = await probeEngines({ env: own, signal })
  const engines = probes.flatMap(({ engine, usable }) => (usable ? [engine] : []))
  // A killed worker of this machine may have left a container that runs.
  for (const engine of engines) await sandboxEngines[engine].sweep({ env: own, signal })
  return { agents: Object.fromEntries((await Promise.all(probing)).flat()), engines }
}

function agentOf(text: string): string {
  const [, name] = /^agent=(.+)$/.exec(text) ?? []
  if (name !== undefined) return name
  throw new GantryError('USAGE', `--only ${text} is not agent=NAME`, {
    hint: 'Write --only agent=claude-code.',
  })
}
