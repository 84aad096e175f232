import { posix } from 'node:path'
import type { World } from '../../shell/world.ts'
import type { Settings } from '../settings/settings.ts'
import { type Ground, gitsOwn, type WriteBounds } from './write-bounds.ts'

/** The boundary as it is set, on the disk as it is. */
export function boundsOfSettings(
  { root: set, package: inner, also, refused, git }: Settings['boundary'],
  project: string,
  world: World,
): WriteBounds {
  const root = world.resolve(set === '' ? project : set).real
  return {
    root,
    git,
    grounds: [
      ...projectGrounds(root, inner),
      ...also.map((path): Ground => ({ kind: 'open', path: world.resolve(path).real })),
      ...refused.map(
        (name): Ground => ({ kind: 'kept', path: below(root, name), why: `${name} is set to stay as it is` }),
      ),
    ],
  }
}

/** All of it, or the one package; never what git keeps. Links are not followed: where they lead is for whoever can move them. */
export function projectGrounds(root: string, inner: string): readonly Ground[] {
  const path = below(root, inner)
  const why = `the work is confined to ${inner}`
  return [
    ...(path === root ? [] : [{ kind: 'confined', path: root, why } as const]),
    { kind: 'project', path },
    { kind: 'kept', path: below(root, '.git'), why: gitsOwn },
  ]
}

function below(root: string, name: string): string {
  return posix.join(root, name).replace(/(?<=.)\/$/, '')
}
