import { openApiDocument } from '../src/server/openapi.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly description?: string
  readonly 'x-typescript'?: string
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: Schema
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >
}

/** The operations of the API for the page, from the OpenAPI document. */
export function webClientFile(): Record<string, string> {
  const document = openApiDocument() as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  }
  const shared = new Map<string, string[]>()
  const types = Object.entries(document.components.schemas).flatMap(([name, schema]) => {
    const file = schema['x-typescript']
    if (file === undefined) return [`export type ${name} = ${typeOf(schema)}\n`]
    shared.set(file, [...(shared.get(file) ?? []), name])
    return []
  })
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const imports = [...shared].sort().map(([file, names]) => {
    const list = names.sort().join(', ')
    return `import type { ${list} } from '../../${file}'\nexport type { ${list} }\n`
  })
  const described = operations.map(
    ({ operation }) => `  ${operation.operationId}: {
    path: ${objectOf(operation, 'path')}
    query: ${objectOf(operation, 'query')}
    body: ${typeOf(operation.requestBody?.content['application/json']?.schema)}
    reply: ${replyOf(operation)}
  }`,
  )
  const addresses = operations.map(
    ({ path, method, operation }) => `  ${operation.operationId}: ['${method}', '${path}'],`,
  )
  const text = `// Generated from the OpenAPI document by "npm run generate". Do not edit.
${imports.join('')}
${types.join('')}
export interface Operations {
${described.join('\n')}
}

export const addresses: Readonly<Record<keyof Operations, readonly [method: string, path: string]>> = {
${addresses.join('\n')}
}
`
  return { 'web/api/operations.ts': text }
}

function replyOf({ responses }: Operation): string {
  const content = (responses['200'] ?? responses['201'])?.content ?? {}
  const [type, { schema } = { schema: {} }] = Object.entries(content)[0] ?? []
  return type === 'application/json' ? typeOf(schema) : 'string'
}

function objectOf({ parameters = [] }: Operation, where: string): string {
  const fields = parameters.filter((one) => one.in === where)
  if (fields.length === 0) return 'Record<never, never>'
  return `{ ${fields.map(({ name, required, schema }) => `${name}${required ? '' : '?'}: ${typeOf(schema)}${required ? '' : ' | undefined'}`).join('; ')} }`
}

function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) return 'undefined'
  if (schema.$ref !== undefined) return schema.$ref.replace(/^.*\//, '')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return choices.map(typeOf).join(' | ')
  if (schema.allOf !== undefined) return schema.allOf.map(typeOf).join(' & ')
  if (Array.isArray(schema.type))
    return schema.type.map((type: string) => typeOf({ ...schema, type })).join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return `readonly (${typeOf(schema.items ?? {})})[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  if (properties === undefined)
    return typeof additionalProperties === 'object'
      ? `Readonly<Record<string, ${typeOf(additionalProperties)}>>`
      : 'Readonly<Record<string, unknown>>'
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      `readonly ${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  return `{ ${fields.join('; ')} }`
}
