import { asArray, asString, isObject, type JsonObject } from '../../../../core/json-fields.ts'
import type { CallMessage, ModelCall } from '../../contract.ts'
import { callKind } from '../call-kind.ts'
import type { WireRoute } from '../contract.ts'
import { asCount, asJson, jsonText } from '../json.ts'

/** Clients in other languages use snake_case field names, and Google accepts both. */
export function readCall(body: unknown, route: WireRoute): ModelCall {
  const request = asJson(body)
  const facts = {
    system: textOf(partsOf(request.systemInstruction ?? request.system_instruction)),
    messages: contentsOf(request.contents).map(readContent),
    tools: asArray(request.tools).flatMap((tool) => {
      const { functionDeclarations, function_declarations } = asJson(tool)
      return asArray(functionDeclarations ?? function_declarations).flatMap(
        (declared) => asString(asJson(declared).name) ?? [],
      )
    }),
  }
  const config = asJson(request.generationConfig ?? request.generation_config)
  return {
    api: 'gemini',
    kind: callKind(route, facts),
    model: ('model' in route ? route.model : undefined) ?? '',
    stream: route.kind === 'generate' && route.stream === true,
    ...facts,
    maxOutputTokens: asCount(config.maxOutputTokens ?? config.max_output_tokens) ?? null,
  }
}

/** A conversation may be one text or one message. */
function contentsOf(contents: unknown): readonly unknown[] {
  if (Array.isArray(contents)) return contents.filter((item) => isObject(item) || typeof item === 'string')
  return isObject(contents) || typeof contents === 'string' ? [contents] : []
}

function readContent(content: unknown): CallMessage {
  const parts = partsOf(content)
  const { role } = asJson(content)
  return {
    role: role === 'model' ? 'assistant' : role === 'function' ? 'tool' : 'user',
    text: textOf(parts),
    toolCalls: parts.flatMap((part) => {
      const call = part.functionCall ?? part.function_call
      if (!isObject(call)) return []
      return [{ id: asString(call.id) ?? null, name: asString(call.name) ?? '', input: call.args ?? {} }]
    }),
    toolResults: parts.flatMap((part) => {
      const answer = part.functionResponse ?? part.function_response
      return isObject(answer) ? [readToolResult(answer)] : []
    }),
  }
}

/** By convention a result is `{output}` or `{error}`; any other object is the result itself. */
function readToolResult({ id, response }: JsonObject): CallMessage['toolResults'][number] {
  const { output, error } = asJson(response)
  const value = error ?? output ?? response
  return {
    id: asString(id) ?? null,
    text: asString(value) ?? jsonText(value),
    isError: error !== undefined && error !== null,
  }
}

/** A message, or a short form of it: a text, one part, a list of parts. */
function partsOf(content: unknown): readonly JsonObject[] {
  const items = isObject(content) && Array.isArray(content.parts) ? content.parts : [content].flat()
  return items.map((item) => (typeof item === 'string' ? { text: item } : item)).filter(isObject)
}

function textOf(parts: readonly JsonObject[]): string {
  return parts
    .flatMap(({ text, thought }) => (typeof text === 'string' && thought !== true ? [text] : []))
    .join('\n')
}
