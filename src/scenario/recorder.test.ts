import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { createRedaction } from '../core/redaction.ts'
import { systemClock } from '../io/clock.ts'
import { openRecorder } from './recorder.ts'
import { trialPlace } from './trial-work.ts'

test('a suspended recorder continues where it stopped and keeps the agent’s last line', async () => {
  await using fixture = await createFixture({})
  const place = trialPlace(fixture.path)
  const recorder = await openRecorder(place, createRedaction([], {}), systemClock, false)
  recorder.transcript(Buffer.from('no newline at the end'))
  recorder.emit({ event: 'tool_call', tool: 'Bash', command: 'ls' })
  expect(recorder.toolUses()).toHaveLength(1)
  recorder.rest()
  recorder.rest()
  expect(recorder.toolUses()).toEqual([])
  recorder.emit({ event: 'note', level: 'info', message: 'judged' })
  recorder.close()
  const lines = (await fixture.readFile('events.jsonl', 'utf8')).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(['tool_call', 'note'])
  expect(await fixture.readFile('transcript.raw.txt', 'utf8')).toBe('no newline at the end')
  expect(() => recorder.emit({ event: 'note', level: 'info', message: 'late' })).toThrow('closed')
})
