import { z } from 'zod'

/** One operation of the API. The application and the OpenAPI document are built from the same table. */
export interface Route {
  /** Method and path, in OpenAPI notation. The names of its parameters are those of `pathParameters`. */
  readonly at: `${'GET' | 'POST' | 'DELETE'} /${string}`
  readonly summary: string
  /** Needs no token. */
  readonly isOpen?: true
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  readonly reply: RouteReply
  /** Error statuses besides 404 for a name in the path, and 413 and 415 for a body. */
  readonly problems?: readonly number[]
}

/** A route with the name of its handler. */
export type NamedRoute = ReturnType<typeof namedRoute>

export function namedRoute(name: string, { at, ...route }: Route) {
  const [method = '', path = ''] = at.split(' ')
  return { ...route, name, method, path }
}

export interface RouteReply {
  readonly status: 200 | 201
  readonly description: string
  readonly type: string
  /** Of JSON. */
  readonly schema?: z.ZodType
}

/** Digits only: `1e3`, ` 5` and an empty text are refused. */
export function number(schema: z.ZodType<number>) {
  return z.preprocess(
    (text) => (typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : text),
    schema,
  )
}

const jsonType = 'application/json'

export function json<S extends z.ZodType>(schema: S, description: string) {
  return { status: 200, description, type: jsonType, schema } as const
}

export function created<S extends z.ZodType>(schema: S, description: string) {
  return { status: 201, description, type: jsonType, schema } as const
}

export function text(type: string, description: string): RouteReply {
  return { status: 200, description, type }
}
