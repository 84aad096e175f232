import { describe, expect, test } from 'vitest'
import { startGantry } from '../support/gantry.ts'
import { smallProject } from '../support/project.ts'
import { peakMemoryBytes, shellAgent } from './lab.ts'

describe('a flood of output', () => {
  const flood = `head -c ${128 * 1024 * 1024} /dev/zero | tr '\\\\0' 'x'`

  test('of every command around the agent is cut, and memory stays small', async () => {
    const gates = [
      { type: 'command_output_contains', command: `${flood}; echo end`, substring: 'end' },
      { type: 'script', command: `${flood} >&2; echo '{"passed": true}'`, description: 'd' },
    ]
    const scripts = { post: [{ command: flood }], evaluators: [{ name: 'e', command: flood }] }
    using project = smallProject({
      scenario: { setup: { commands: [flood] }, scripts, evaluation: { gates } },
    })
    const { child, ended } = startGantry(project, ['test', '--json'])
    const peak = watchPeak(child.pid)
    const { code, stderr } = await ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(peak()).toBeLessThan(220 * 1024 * 1024)
  })

  test('of an agent is kept whole on disk, and memory stays small', async () => {
    using project = smallProject({
      config: shellAgent(),
      files: {
        'agent.sh':
          'yes "a line that an agent may well print again and again" | head -c 100000000; echo > done.txt',
      },
    })
    const { child, ended } = startGantry(project, ['test', '--json'])
    const peak = watchPeak(child.pid)
    const { code, stderr } = await ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(peak()).toBeLessThan(500 * 1024 * 1024)
  })

  test('in one endless line of an agent that speaks events is survived', async () => {
    using project = smallProject({
      config: shellAgent({ output: 'events' }),
      files: { 'agent.sh': "head -c 40000000 /dev/zero | tr '\\0' 'x'; echo > done.txt" },
    })
    const { child, ended } = startGantry(project, ['test', '--json'])
    const peak = watchPeak(child.pid)
    const { code, stderr } = await ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(peak()).toBeLessThan(500 * 1024 * 1024)
  })
})

function watchPeak(pid: number | undefined): () => number {
  let peak = 0
  const timer = setInterval(() => {
    if (pid !== undefined) peak = Math.max(peak, peakMemoryBytes(pid))
  }, 20).unref()
  return () => {
    clearInterval(timer)
    if (peak === 0) throw new Error('the process was never seen')
    return peak
  }
}
