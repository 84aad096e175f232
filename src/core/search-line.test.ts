import { expect, test } from 'vitest'
import { searchLine } from './search-line.ts'

test('a hit shows the text of the event, without the JSON around it', () => {
  const call = { ts: 1, event: 'tool_call', tool: 'Bash', input: { command: 'echo "one"\necho needle\tend' } }
  expect(searchLine(JSON.stringify(call), 'NEEDLE')).toBe('Bash: echo "one" echo needle end')
  const long = {
    event: 'message',
    role: 'assistant',
    text: `${'a'.repeat(200)} the "needle" ${'b'.repeat(200)}`,
  }
  expect(searchLine(JSON.stringify(long), 'the "needle"')).toBe(
    `assistant: …${'a'.repeat(59)} the "needle" ${'b'.repeat(99)}…`,
  )
  expect(searchLine(JSON.stringify(long), 'absent')).toBeNull()
})

test('a line that is not JSON, and a hit outside of all texts, are shown as they are written', () => {
  expect(searchLine('a torn {"line with a needle', 'needle')).toBe('a torn {"line with a needle')
  expect(searchLine('{"event":"usage","input_tokens":4321}', '4321')).toBe(
    '{"event":"usage","input_tokens":4321}',
  )
})
