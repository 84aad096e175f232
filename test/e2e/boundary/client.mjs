// A program that speaks to its model over HTTP, as an agent does: one prompt, one tool, until the model asks for nothing more.
// node client.mjs --api NAME [--stream] [--model NAME] [--times N] [--dump-env FILE] [--ignore-errors] [--exit N] PROMPT...
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    api: { type: 'string', default: 'anthropic' },
    stream: { type: 'boolean', default: false },
    model: { type: 'string', default: 'claude-sonnet-5' },
    times: { type: 'string', default: '1' },
    'dump-env': { type: 'string' },
    'ignore-errors': { type: 'boolean', default: false },
    exit: { type: 'string', default: '0' },
  },
})
const { env } = process
const prompt = positionals.join(' ')
const parameters = {
  type: 'object',
  properties: { path: { type: 'string' }, content: { type: 'string' } },
}

const apis = {
  anthropic: {
    url: () => `${env.ANTHROPIC_BASE_URL}/v1/messages`,
    headers: () => ({ 'x-api-key': env.ANTHROPIC_API_KEY, 'anthropic-version': '2023-06-01' }),
    body: (messages) => ({
      max_tokens: 1_000,
      system: 'You write files.',
      tools: [{ name: 'save', description: 'Writes a file.', input_schema: parameters }],
      messages,
    }),
    whole: ({ content }) => ({
      text: content.map((block) => block.text ?? '').join(''),
      calls: content.filter(({ type }) => type === 'tool_use'),
      message: { role: 'assistant', content },
    }),
    pieces: (events) => {
      const blocks = []
      for (const { type, index, content_block, delta } of events) {
        if (type === 'content_block_start') blocks[index] = { ...content_block, json: '' }
        if (delta?.text !== undefined) blocks[index].text += delta.text
        if (delta?.partial_json !== undefined) blocks[index].json += delta.partial_json
      }
      if (!events.some(({ type }) => type === 'message_stop')) throw new Error('the stream was cut')
      return blocks.map(({ json, ...block }) =>
        block.type === 'tool_use' ? { ...block, input: JSON.parse(json || '{}') } : block,
      )
    },
    ofPieces: (content) => ({ content }),
  },
  'openai-chat': {
    url: () => `${env.OPENAI_BASE_URL}/chat/completions`,
    headers: () => ({ authorization: `Bearer ${env.OPENAI_API_KEY}` }),
    body: (messages) => ({ messages, stream_options: { include_usage: true } }),
    whole: ({ choices }) => ({ text: choices[0].message.content, calls: [] }),
    pieces: (events) => events.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
    ofPieces: (content) => ({ choices: [{ message: { content } }] }),
  },
  'openai-responses': {
    url: () => `${env.OPENAI_BASE_URL}/responses`,
    headers: () => ({ authorization: `Bearer ${env.OPENAI_API_KEY}` }),
    body: (messages) => ({ input: messages }),
    whole: ({ output }) => ({
      text: output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join(''),
      calls: [],
    }),
    pieces: (events) => events.find(({ type }) => type === 'response.completed').response,
    ofPieces: (response) => response,
  },
  gemini: {
    url: () =>
      `${env.GOOGLE_GEMINI_BASE_URL}/v1beta/models/${values.model}:${values.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    headers: () => ({ 'x-goog-api-key': env.GEMINI_API_KEY }),
    body: (messages) => ({
      contents: messages.map(({ content }) => ({ role: 'user', parts: [{ text: content }] })),
    }),
    whole: ({ candidates }) => ({
      text: candidates[0].content.parts.map(({ text }) => text).join(''),
      calls: [],
    }),
    pieces: (events) => events.flatMap(({ candidates }) => candidates[0]?.content?.parts ?? []),
    ofPieces: (parts) => ({ candidates: [{ content: { parts } }] }),
  },
}

async function ask(messages) {
  const api = apis[values.api]
  const response = await fetch(api.url(), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...api.headers() },
    body: JSON.stringify({ model: values.model, stream: values.stream, ...api.body(messages) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`status ${response.status}: ${text}`)
  if (!values.stream) return api.whole(JSON.parse(text))
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)))
  return api.whole(api.ofPieces(api.pieces(events)))
}

async function work() {
  const messages = [{ role: 'user', content: prompt }]
  for (;;) {
    const { text, calls, message } = await ask(messages)
    if (text) console.log(text)
    if (calls.length === 0) return
    for (const { input } of calls) writeFileSync(input.path, input.content)
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'written' }))
    messages.push(message, { role: 'user', content: results })
  }
}

if (values['dump-env'] !== undefined) writeFileSync(values['dump-env'], JSON.stringify(env))
for (let done = 0; done < Number(values.times); done++) {
  try {
    await work()
  } catch (error) {
    console.error(error.cause?.message ?? error.message)
    if (!values['ignore-errors']) process.exit(1)
  }
}
process.exitCode = Number(values.exit)
