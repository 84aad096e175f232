import { z } from 'zod'
import { version } from '../core/version.ts'
import { components, errorSchema, pathParameters } from './api-schemas.ts'
import type { NamedRoute } from './route.ts'
import { routeTable } from './routes.ts'

type Json = Readonly<Record<string, unknown>>

export function openApiDocument(): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of routeTable)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Gantry',
      version,
      description: 'Runs, trials and verified coding tasks. Every error uses the schema Error.',
    },
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } }, schemas: namedSchemas() },
  }
}

function operation(route: NamedRoute): Json {
  const { name, summary, isOpen, body, reply } = route
  const parameters = [...parametersIn(route), ...queryParameters(route), ...streamParameters(route)]
  return {
    operationId: name,
    summary,
    ...(isOpen === true && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: !body.safeParse(undefined).success,
        content: { 'application/json': { schema: schemaOf(body) } },
      },
    }),
    responses: {
      [reply.status]: {
        description: reply.description,
        content: {
          [reply.type]: { schema: reply.schema === undefined ? { type: 'string' } : schemaOf(reply.schema) },
        },
      },
      ...(route.path.endsWith('{id}/events') && {
        204: {
          description: 'The task has ended and there is no event after the given id. Do not reconnect.',
        },
      }),
      ...Object.fromEntries(problemsOf(route).map((status) => [status, errorReply(problemWords[status])])),
      default: errorReply('An error.'),
    },
  }
}

/** What is named may be missing, and a body may be refused. */
function problemsOf({ path, body, problems = [] }: NamedRoute): readonly number[] {
  return [...(path.includes('{') ? [404] : []), ...(body === undefined ? [] : [413, 415]), ...problems]
}

const problemWords: Readonly<Record<number, string>> = {
  404: 'There is no such thing, or it does not have this.',
  401: 'The code was used, is too old or is wrong.',
  409: 'Its state does not allow this.',
  413: 'The body is too large.',
  415: 'The body is not plain JSON.',
  503: 'The store does not work.',
}

function errorReply(description = 'An error.'): Json {
  return { description, content: { 'application/json': { schema: schemaOf(errorSchema) } } }
}

function parametersIn({ path }: NamedRoute): readonly Json[] {
  return Object.entries(pathParameters)
    .filter(([name]) => path.includes(`{${name}}`))
    .map(([name, schema]) => ({ name, in: 'path', required: true, schema: bare(schema) }))
}

function queryParameters({ query }: NamedRoute): readonly Json[] {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = bare(schema)
    return {
      name,
      in: 'query',
      required: !schema.safeParse(undefined).success,
      ...(description !== undefined && { description }),
      schema: rest,
    }
  })
}

function streamParameters({ reply }: NamedRoute): readonly Json[] {
  if (reply.type !== 'text/event-stream') return []
  const description = 'The id of the last received event. Overrides ?after=.'
  return [{ name: 'Last-Event-ID', in: 'header', required: false, description, schema: { type: 'integer' } }]
}

function schemaOf(schema: z.ZodType): Json {
  const id = components.get(schema instanceof z.ZodOptional ? schema.def.innerType : schema)?.id
  return id === undefined ? bare(schema, 'input') : { $ref: refTo(id) }
}

/** Describes a parsed query parameter by its parsed type. */
function bare(schema: z.core.$ZodType, io: 'input' | 'output' = 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' })
  return rest
}

function namedSchemas(): Json {
  const { schemas } = z.toJSONSchema(components, { io: 'input', target: 'draft-2020-12', uri: refTo })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: __, ...rest }]) => [id, rest]),
  )
}

function refTo(id: string): string {
  return `#/components/schemas/${id}`
}
