import { expect, test } from 'vitest'
import { loadedParts } from './open-live-session.ts'

const begun = { claude_code_version: '2.1.300', commands: [{ name: 'hi' }], agents: [{ name: 'Plan' }] }

test('before the init line, only the data of the session start is known', () => {
  expect(loadedParts(begun, null, null)).toEqual({
    version: '2.1.300',
    session_id: null,
    tools: [],
    skills: [],
    agents: ['Plan'],
    commands: ['hi'],
    plugins: [],
    plugin_errors: [],
    mcp_servers: [],
  })
})

test('the tools of a server are from its own report, or else by their names', () => {
  const init = {
    tools: ['Bash', 'mcp__plugin_my-demo_w_x__forecast', 'mcp__other__y'],
    mcp_servers: [{ name: 'plugin:my-demo:w.x', status: 'connected' }, { name: 'bare' }],
  }
  expect(loadedParts({}, init, null).mcp_servers).toEqual([
    { name: 'plugin:my-demo:w.x', status: 'connected', tools: ['forecast'] },
    { name: 'bare', status: 'unknown' },
  ])
  const asked = [{ name: 'plugin:my-demo:w.x', status: 'connected', tools: [{ name: 'late' }, 'plain'] }]
  const { mcp_servers, tools } = loadedParts({}, init, asked)
  expect(mcp_servers).toEqual([{ name: 'plugin:my-demo:w.x', status: 'connected', tools: ['late', 'plain'] }])
  expect(tools.slice(-2)).toEqual(['mcp__plugin_my-demo_w_x__late', 'mcp__plugin_my-demo_w_x__plain'])
})

test('data of an unexpected form is ignored', () => {
  const init = {
    tools: 'x',
    plugins: [7, { name: 1 }],
    plugin_errors: ['odd', 5, { why: 1 }],
    mcp_servers: {},
  }
  expect(loadedParts({ commands: 3 }, init, [{ error: 'no' }])).toMatchObject({
    tools: [],
    plugins: [{ name: '', path: '' }],
    plugin_errors: ['odd', '5', '{"why":1}'],
    mcp_servers: [{ name: '', status: 'unknown', error: 'no' }],
  })
})
