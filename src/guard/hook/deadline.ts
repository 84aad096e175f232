import type { HookArguments } from './hook-arguments.ts'

/** When an answer must be out. */
export interface Deadline {
  readonly passed: Promise<'late'>
  clear(): void
}

/** Most hooks are done long before, and need not know how long they would have had. */
const carefreeMs = 1_000
/** Where nothing is registered. */
const defaultTimeoutMs = 5_000

/** Before the agent's own: most agents go on as if nothing had been said when a hook takes too long. */
export function startDeadline(given: HookArguments): Deadline {
  const { promise: passed, resolve } = Promise.withResolvers<'late'>()
  let isOver = false
  let timer = setTimeout(async () => {
    const limitMs = await registeredMs(given)
    if (!isOver) timer = setTimeout(resolve, limitMs - carefreeMs, 'late')
  }, carefreeMs)
  return {
    passed,
    clear: () => {
      isOver = true
      clearTimeout(timer)
    },
  }
}

async function registeredMs({ agent, event }: HookArguments): Promise<number> {
  const { codecOf } = await import('./codec-of.ts')
  const registered = codecOf(agent).events.filter((one) => event === null || one.event === event)
  const timeouts = registered.map(({ timeoutSeconds }) => timeoutSeconds * 1000)
  const timeoutMs = timeouts.length === 0 ? defaultTimeoutMs : Math.min(...timeouts)
  return timeoutMs - Math.min(2_000, timeoutMs * 0.2)
}
