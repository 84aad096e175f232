import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { brokenExpectation, mockConfig } from './mock-servers.ts'

test('a mock is an MCP server: it lists its tools, fills in the input, and refuses what it does not expect', async () => {
  const tool = { description: 'd', input_schema: { type: 'object' }, is_error: false, expect: {} }
  const config = mockConfig([
    {
      cli_name: 'plugin:demo:weather',
      tools: [
        { ...tool, name: 'forecast', text: 'Sunny in {{input.place.city}} for {{input.days}} days.' },
        { ...tool, name: 'broken', text: 'Not today.', is_error: true },
        {
          ...tool,
          name: 'strict',
          text: 'ok',
          expect: { city: '/^o/i', days: 'integer', unit: ['C', 'F'], 'place.id': 7, note: 'string' },
        },
      ],
    },
  ]) as { mcpServers: Record<string, { command: string; args: string[]; env: Record<string, string> }> }
  const server = config.mcpServers['plugin:demo:weather']
  if (server === undefined) throw new Error('no server')
  const child = spawn(server.command, server.args, { env: server.env, stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let id = 0
  const ask = async (method: string, params: object = {}): Promise<unknown> => {
    id += 1
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const answer = JSON.parse(String((await answers.next()).value))
    expect(answer.id).toBe(id)
    return answer.result
  }
  const call = async (name: string, input: object): Promise<[string, boolean]> => {
    const result = (await ask('tools/call', { name, arguments: input })) as {
      content: { text: string }[]
      isError?: boolean
    }
    return [result.content[0]?.text ?? '', result.isError === true]
  }
  try {
    expect(await ask('initialize', { protocolVersion: '2025-06-18' })).toMatchObject({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
    })
    expect(await ask('tools/list')).toMatchObject({
      tools: [{ name: 'forecast', inputSchema: { type: 'object' } }, { name: 'broken' }, { name: 'strict' }],
    })
    expect(await call('forecast', { place: { city: 'Oslo' }, days: 2 })).toEqual([
      'Sunny in Oslo for 2 days.',
      false,
    ])
    expect(await call('broken', {})).toEqual(['Not today.', true])
    const good = { city: 'Oslo', days: 2, unit: 'C', place: { id: 7 }, note: '' }
    expect(await call('strict', good)).toEqual(['ok', false])
    for (const wrong of [{ city: 'Rome' }, { days: 1.5 }, { unit: 'K' }, { place: {} }, { note: 1 }]) {
      const [text, isError] = await call('strict', { ...good, ...wrong })
      expect([text.startsWith(brokenExpectation), isError], JSON.stringify(wrong)).toEqual([true, true])
    }
  } finally {
    child.kill()
  }
})
