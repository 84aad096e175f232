import { delimiter } from 'node:path'
import type { World } from './world.ts'

/** Where `which` finds a program; its name when it is nowhere. */
export function programPath(name: string, { env, resolve }: World): string {
  if (name.includes('/') || name.includes('\0')) return name
  const places = (env.PATH ?? '').split(delimiter).filter((place) => place.startsWith('/'))
  const found = places.find((place) => resolve(`${place}/${name}`).kind === 'file')
  return found === undefined ? name : `${found}/${name}`
}
