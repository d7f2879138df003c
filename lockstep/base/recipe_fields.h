// The fields of a recipe that are more than one member of a plain type.
#pragma once

#include "lockstep/base/recipe.h"
#include "lockstep/base/recipe_key.h"

namespace lockstep {

RecipeField<Recipe> betas_field();         // optimizer.betas: [beta1, beta2], each from 0 to below 1
RecipeField<Recipe> num_workers_field();   // scaling.num_workers: count, [min, max], or auto
RecipeField<Recipe> data_sources_field();  // data.sources: a list of mappings

RecipeRange folder_name();    // a name that can be a folder's
RecipeRange of_numbers();     // a mapping whose values are numbers of at least 0
RecipeRange share_or_file();  // a share between 0 and 1, or a path

}  // namespace lockstep
