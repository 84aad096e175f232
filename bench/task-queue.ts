import { openStore } from '../src/store/open-store.ts'
import { openQueue } from '../src/store/queue/open-queue.ts'
import { type Figure, inTemporary, median, timed } from './figure.ts'

const tasks = 10_000
const atMostMs = 50
const rounds = 15

/** Every task with its position, as `gantry task list` and the server show them. */
export function listQueue(): Promise<Figure> {
  return inTemporary(async (root) => {
    const queue = openQueue(openStore({ env: {}, cwd: root, root }))
    for (let number = 0; number < tasks; number += 1)
      queue.submit({
        repository: `/home/dev/app${number % 10}`,
        description: `Task ${number}: add a flag to the command and a test for it.`,
        dryRun: false,
        verbose: false,
        options: { agent: 'builtin', model: 'default', sandbox: 'auto', retry: false },
      })
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1)
      times.push(
        await timed(() => {
          if (queue.list().length !== tasks) throw new Error('a task is missing')
        }),
      )
    queue.close()
    const medianMs = median(times)
    return {
      name: `list ${tasks} queued tasks`,
      limit: `at most ${atMostMs} ms`,
      ratio: medianMs / atMostMs,
      ok: medianMs <= atMostMs,
      detail: { medianMs, rounds },
    }
  })
}
