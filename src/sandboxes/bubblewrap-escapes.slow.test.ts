import { isRoot } from '../io/is-root.ts'
import { bubblewrapEngine } from './bubblewrap/engine.ts'
import { escapeCorpus } from './escape.conformance.ts'

escapeCorpus(isRoot() ? 'bubblewrap, started by root' : 'bubblewrap', bubblewrapEngine, {
  image: 'debian:12',
  env: { PATH: process.env.PATH ?? '' },
})
