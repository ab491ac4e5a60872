// Package svg draws line plots as SVG, the same bytes for the same figures. They have two palettes, and the viewer's
// colour scheme chooses: also where a page shows them as images. A series is told by its label, its dashes and its
// markers, not by its colour alone.
package svg
